import { render } from "preact";
import { InboxPage } from "./inbox/inbox-page.js";

render(<InboxPage />, document.body);
