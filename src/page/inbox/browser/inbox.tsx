import { render } from "preact";
import { PageRoot } from "../../parts/page-root.js";
import { InboxPage } from "./inbox-page.js";

render(
  <PageRoot>
    <InboxPage />
  </PageRoot>,
  document.body,
);
