// A receiver on plain node:http, right unless FAULT names what is wrong with it.
import { createHmac, timingSafeEqual } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const {
  SIGNALS_SECRET: secret,
  FAULT: fault = "",
  JOURNAL: journal,
  PORT: port = "0",
} = process.env;
const LIMIT = 262_144;
const SIGNALS = new URL("../../../../../fixtures/signals/", import.meta.url);
// A process whose clock is wrong says so in its Date header too.
const now = () => Date.now() / 1000 + (fault === "clock-ahead" ? 20 : 0);

/** One accepted id a line. */
const known = new Set();
if (existsSync(journal) && fault !== "forgets-on-restart") {
  for (const id of readFileSync(journal, "utf8").split("\n")) known.add(id);
}

function isOutOfTolerance(t) {
  const age = Math.floor(now()) - t;
  switch (fault) {
    case "no-age-check":
      return false;
    case "past-only":
      return age > 300;
    case "future-only":
      return age < -300;
    default:
      return Math.abs(age) > 300;
  }
}

function signedBytes(body) {
  if (fault !== "signs-reserialised") return body;
  try {
    return JSON.stringify(JSON.parse(body.toString()));
  } catch {
    return body;
  }
}

/** The code of a refusal, or null. */
function refusal(header, body) {
  if (header === undefined) return fault === "takes-unsigned" ? null : "signature_missing";
  const form =
    fault === "lenient-header"
      ? /t=(\d{1,12}).*v1=([0-9a-f]{64})/
      : /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;
  const match = form.exec(header);
  if (match === null)
    return fault === "reads-no-digest" ? ageOfLoose(header) : "signature_malformed";
  const [, t, v1] = match;
  const digest = createHmac("sha256", secret).update(`${t}.`).update(signedBytes(body)).digest();
  const isRight = timingSafeEqual(digest, Buffer.from(v1, "hex"));
  if (!isRight && fault !== "no-signature-check" && fault !== "reads-no-digest")
    return "signature_mismatch";
  return isOutOfTolerance(Number(t)) ? "timestamp_out_of_tolerance" : null;
}

/** As if the age were all that a header is for. */
function ageOfLoose(header) {
  const [, t] = /t=(\d{1,12})/.exec(header) ?? [];
  if (t === undefined) return "signature_malformed";
  return isOutOfTolerance(Number(t)) ? "timestamp_out_of_tolerance" : null;
}

function parse(body) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

async function accept(event) {
  const isKnown = known.has(event.id);
  // Somebody else may have accepted it by the time we come back.
  if (fault === "looks-then-inserts") await sleep(20);
  if (isKnown && fault === "duplicate-is-409") return [409, "duplicate"];
  if (isKnown && fault !== "no-dedupe")
    return [200, { received: true, ...(fault !== "silent" && { duplicate: true }) }];
  known.add(event.id);
  appendFileSync(journal, `${event.id}\n`);
  if (fault === "slow" && event.data.signal_type === "product_launch") await sleep(600);
  return [200, { received: true }];
}

async function receive(request, body) {
  if (request.method !== "POST") return [405, "method_not_allowed"];
  if (request.headers["content-encoding"] !== undefined) return [415, "encoding_unsupported"];
  if (body.length > LIMIT) return [413, "body_too_large"];
  const event = parse(body);
  const isVerification =
    event?.type === "webhook.verification" && typeof event.data?.challenge === "string";
  if (fault === "answers-any-challenge" && isVerification)
    return [200, { challenge: event.data.challenge }];
  const code = refusal(request.headersDistinct["x-service-signature"]?.join(", "), body);
  if (code !== null) return [401, code];
  if (isVerification) {
    if (fault === "challenge-once" && known.has(event.id))
      return [200, { received: true, duplicate: true }];
    known.add(event.id);
    return [
      200,
      fault === "no-challenge" ? { received: true } : { challenge: event.data.challenge },
    ];
  }
  if (
    typeof event?.id !== "string" ||
    typeof event.type !== "string" ||
    typeof event.data !== "object"
  ) {
    return [200, { received: true, quarantined: true }];
  }
  const handlers = {
    "signal.published": accept,
    "webhook.test": accept,
    "webhook.verification": accept,
  };
  if (fault === "throws-on-unknown-type") return handlers[event.type](event);
  if (fault === "closed-signal-types" && event.type === "signal.published") {
    if (!existsSync(new URL(`${event.data.signal_type}.json`, SIGNALS)))
      return [422, "unknown_signal_type"];
  }
  const isHandled =
    event.type !== "signal.published" ||
    /price_increased|traffic|_pages/.test(event.data.signal_type);
  if (fault === "handles-few-types" && !isHandled) return [422, "type_not_handled"];
  return accept(event);
}

function answer(response, status, content) {
  const error = {
    error: { code: content, message: "The delivery was refused." },
    request_id: "req_1",
  };
  const text = JSON.stringify(typeof content === "string" ? error : content);
  response.writeHead(status, {
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    Date: new Date(now() * 1000).toUTCString(),
    ...(status === 405 && { Allow: "POST" }),
  });
  response.end(text);
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    receive(request, Buffer.concat(chunks))
      .then(([status, content]) => answer(response, status, content))
      .catch(() => answer(response, 500, "internal_error"));
  });
});
server.listen(Number(port), "127.0.0.1", () => console.log(server.address().port));
