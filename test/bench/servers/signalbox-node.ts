import { nodeHandler } from "signalbox/node";
import { serveOurs } from "./our-receiver.js";

await serveOurs(nodeHandler);
