import { serveTraced } from "./serve-traced.js";

await serveTraced(1);
