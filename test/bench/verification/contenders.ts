import { createHmac } from "node:crypto";
import { verify as verifyForOctokit } from "@octokit/webhooks-methods";
import { verifySignature } from "signalbox";
import { signalEvent } from "signalbox/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { SECRET } from "../endpoint.js";

/**
 * One library's way to check one received body. A call throws, or gives `false`, when the signature
 * is wrong.
 */
export interface Contender {
  name: string;
  verify(): unknown;
  /** How it is called: most at once, octokit through a promise. */
  isAsync?: boolean;
}

const TOLERANCE_SECONDS = 300;
/** svix and standardwebhooks take theirs in base64. */
const BASE64_SECRET = `whsec_${Buffer.from(SECRET).toString("base64")}`;

/**
 * What a receiver has in hand: the bytes of a body, and headers. Made anew for each, so that
 * nothing can be remembered.
 */
export function makeContenders(bodyBytes: number, now = new Date()): Contender[] {
  const event = signalEvent();
  event.data.evidence_summary += "x".repeat(Math.max(0, bodyBytes - JSON.stringify(event).length));
  const body = Buffer.from(JSON.stringify(event));
  const timestamp = Math.floor(now.getTime() / 1000);
  const stamped = `t=${timestamp},v1=${hmac(`${timestamp}.`, body)}`;
  const plain = `sha256=${hmac("", body)}`;
  const secrets = [SECRET];
  const standard = new StandardWebhook(BASE64_SECRET);
  const svix = new SvixWebhook(BASE64_SECRET);
  const standardHeaders = {
    "webhook-id": event.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": standard.sign(event.id, now, body.toString()),
  };
  const svixHeaders = {
    "svix-id": event.id,
    "svix-timestamp": String(timestamp),
    "svix-signature": svix.sign(event.id, now, body.toString()),
  };
  const { signature } = Stripe.webhooks;
  if (signature === null) throw new Error("this stripe has no signature module");
  const seconds = `${timestamp}.`;

  return [
    // What the others are compared with: each of them needs one over the same bytes.
    {
      name: "one bare HMAC",
      verify: () => createHmac("sha256", SECRET).update(seconds).update(body).digest(),
    },
    {
      name: "signalbox verifySignature",
      verify: () => verifySignature({ header: stamped, body, secrets }).ok,
    },
    {
      name: "signalbox verifySignature, JSON.parse",
      verify: () =>
        verifySignature({ header: stamped, body, secrets }).ok && JSON.parse(body.toString()),
    },
    {
      name: "stripe verifyHeader",
      verify: () => signature.verifyHeader(body, stamped, SECRET, TOLERANCE_SECONDS),
    },
    // The rest want a string: from bytes to text is part of their call.
    {
      name: "@octokit/webhooks-methods verify",
      isAsync: true,
      verify: () => verifyForOctokit(SECRET, body.toString(), plain),
    },
    // These two parse the JSON too, and cannot do without.
    { name: "standardwebhooks verify", verify: () => standard.verify(body, standardHeaders) },
    { name: "svix verify", verify: () => svix.verify(body, svixHeaders) },
  ];
}

function hmac(prefix: string, body: Buffer): string {
  return createHmac("sha256", SECRET).update(prefix).update(body).digest("hex");
}
