import { render } from "preact";
import { InboxPage } from "./inbox-page.js";

render(<InboxPage />, document.body);
