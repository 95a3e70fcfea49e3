// Express that stores nothing and checks nothing: the cost of the framework itself.
import express from "express";
import { PATH } from "./endpoint.js";
import { serve } from "./serve.js";

const app = express();
app.post(PATH, express.raw({ type: "*/*" }), (_request, response) => {
  response.json({ received: true });
});
serve({ listener: app });
