import { render } from "preact";
import { PageRoot } from "../../browser-parts/page-root.js";
import { InboxPage } from "./inbox-page.js";

render(
  <PageRoot>
    <InboxPage />
  </PageRoot>,
  document.body,
);
