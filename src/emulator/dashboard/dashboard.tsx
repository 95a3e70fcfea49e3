import { render } from "preact";
import { Frame } from "./frame.js";

render(<Frame />, document.body);
