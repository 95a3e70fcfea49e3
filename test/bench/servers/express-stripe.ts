// The Stripe library as its documentation shows it, and a Set against repeats: nothing survives the
// process.
import express from "express";
import { Stripe } from "stripe";
import { PATH, SECRET } from "./endpoint.js";
import { serve } from "./serve.js";

const { webhooks } = new Stripe("sk_test_bench");
const seen = new Set<string>();
const app = express();
app.post(PATH, express.raw({ type: "*/*" }), (request, response) => {
  const event = webhooks.constructEvent(
    request.body as Buffer,
    request.headers["stripe-signature"] ?? "",
    SECRET,
  );
  const duplicate = seen.has(event.id);
  seen.add(event.id);
  response.json(duplicate ? { received: true, duplicate } : { received: true });
});
serve({ listener: app });
