// The middleware of @octokit/webhooks as its documentation shows it: it verifies, parses and calls
// back.
import express from "express";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import { PATH, SECRET } from "./endpoint.js";
import { serve } from "./serve.js";

const webhooks = new Webhooks({ secret: SECRET });
let received = 0;
webhooks.onAny(async () => {
  received += 1;
});
const app = express();
app.use(createNodeMiddleware(webhooks, { path: PATH }));
serve({ listener: app, handedOff: () => received });
