// STUB until main has it.
import { defineSender } from "./define-sender.js";
import type { AnySender } from "./sender.js";

export function stripe() {
  return defineSender<{ id: string; type: string }>({
    name: "stripe",
    signature: {
      header: "stripe-signature",
      list: { between: ",", assign: "=", signature: "v1", time: "t" },
      time: { list: true },
      message: ["time", ".", "body"],
    },
    read: ({ json }) => ({ id: json.id, type: json.type }),
    sample: (now) => ({ body: { id: `evt_${now}`, type: "charge.succeeded", data: { object: { id: "ch_1" } } } }),
  });
}
export function github() {
  return defineSender({
    name: "github",
    headers: ["x-github-event", "x-github-delivery"],
    unsignedId: true,
    signature: { header: "x-hub-signature-256", prefix: "sha256=" },
    read: ({ json, headers }) => ({
      id: headers["x-github-delivery"],
      type: headers["x-github-event"],
      subtype: json.action,
    }),
    sample: (now) => ({
      body: { zen: "Keep it logically awesome." },
      headers: { "x-github-event": "ping", "x-github-delivery": `sample-${now}` },
    }),
  });
}
export function twilio({ publicUrl }: { publicUrl: string }) {
  return defineSender({
    name: "twilio",
    publicUrl,
    signature: { header: "x-twilio-signature", digest: "sha1", encoding: "base64", message: ["url", "body"] },
    acknowledgement: { text: "<Response/>", contentType: "text/xml" },
    read: ({ form }) => ({ id: form["MessageSid"], type: "message", event: form }),
    sample: (now) => ({
      body: `MessageSid=SM${now}&Body=Hello`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
  });
}
export function meta({ verifyToken }: { verifyToken: string }) {
  return defineSender({
    name: "meta",
    signature: { header: "x-hub-signature-256", prefix: "sha256=" },
    handshake: {
      get: (q) => (q.get("hub.verify_token") === verifyToken ? { text: q.get("hub.challenge") ?? "" } : "refused"),
    },
    read: ({ json }) => ({ id: null, type: json.object }),
    sample: () => ({ body: { object: "page", entry: [] } }),
  });
}
export const BUILT_IN_SENDERS = ["stripe", "github", "twilio", "meta"];
export function builtInSender(name: string): AnySender {
  const all: Record<string, () => AnySender> = {
    stripe,
    github,
    twilio: () => twilio({ publicUrl: "https://hooks.example/webhooks/twilio" }),
    meta: () => meta({ verifyToken: "x" }),
  };
  return (all[name] as () => AnySender)();
}
