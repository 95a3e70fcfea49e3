import { render } from "preact";
import { Frame } from "./dashboard/frame.js";

render(<Frame />, document.body);
