import { render } from "preact";
import { PageRoot } from "../../../page/parts/page-root.js";
import { followChanges } from "./follow-changes.js";
import { Frame } from "./frame.js";

render(
  <PageRoot>
    <Frame />
  </PageRoot>,
  document.body,
);
followChanges();
