import { explainCode } from "../../deliveries/explain-answer.js";
import { describeAnswer, isSuccess } from "../../deliveries/send-delivery.js";
import { bodyVariants } from "../../deliveries/usual-mistakes.js";
import {
  finding,
  verdictOf,
  verificationBody,
  verificationEvent,
  type Finding,
  type Reply,
  type Subject,
} from "./examination.js";

export async function examineBody(subject: Subject): Promise<Finding[]> {
  const spellings = bodySpellings(subject.facts.isSignalbox === true);
  const changes = new Map<string, string[]>();
  const others: Finding[] = [];
  for (const [name, text] of spellings) {
    const body = Buffer.from(text);
    const reply = await subject.send({ body });
    const answered = describeAnswer(reply.answer, false);
    if (verdictOf(reply) === "unclear") others.push(finding("body_refused", { name, answered }));
    if (verdictOf(reply) !== "mismatched") continue;
    const arrival = await arrivalOf(subject, body);
    changes.set(arrival, [...(changes.get(arrival) ?? []), name]);
  }
  if (changes.size > 0) {
    const each = [...changes].map(
      ([arrival, names]) => `these bodies arrive ${arrival}: ${names.join(", ")}`,
    );
    others.unshift(finding("body_changed", { arrivals: each.join("; ") }));
  }
  return others.length > 0 ? others : [finding("bytes_kept", { count: spellings.length })];
}

/**
 * Verification events, which no receiver stores, in many spellings of JSON. The spellings that are
 * changed in transit show which kind of program changes bodies.
 *
 * @param isSignalbox adds a body with a byte order mark. It is not strict JSON, so other receivers
 * are allowed to refuse it.
 */
function bodySpellings(isSignalbox: boolean): (readonly [name: string, text: string])[] {
  const plain = JSON.stringify(verificationEvent());
  const { id, version, type, created_at, data } = verificationEvent();
  const indented = JSON.stringify(verificationEvent(), null, 2);
  return [
    ["plain JSON", plain],
    [
      "JSON with keys in the service's order",
      JSON.stringify({ id, version, type, created_at, data }),
    ],
    ["indented JSON", indented],
    ["JSON with escaped text", withLiteral(String.raw`"\u00e9\u0041\/"`)],
    ["non-ASCII text", withLiteral('"é 测试 🚂"')],
    ["text with markup and slashes", withLiteral('"<a href=x/y>&</a>"')],
    ["unusual numbers", withLiteral("[1.0,1e2,0.10,9007199254740993]")],
    ["JSON with a line end after it", `${plain}\n`],
    ["JSON with spaces around it", ` ${plain}  `],
    ["JSON with CRLF line ends", indented.replaceAll("\n", "\r\n")],
    ...(isSignalbox ? [["JSON with a byte order mark", `\ufeff${plain}`] as const] : []),
  ];
}

function withLiteral(literal: string): string {
  return JSON.stringify(verificationEvent({ probe: 0 })).replace(
    '"probe":0',
    () => `"probe":${literal}`,
  );
}

/**
 * How a changed body arrived. It is sent with a signature of each variant; the accepted one is of
 * the bytes that arrived.
 */
async function arrivalOf({ send }: Subject, body: Buffer): Promise<string> {
  for (const { body: signed, name } of bodyVariants(body)) {
    const reply = await send({ body, signed });
    if (verdictOf(reply) === "matched") return name;
  }
  return "changed in an unknown way";
}

const LARGE_KIB = 200;

export async function examineLargeBody({ send }: Subject): Promise<Finding[]> {
  const reply = await send({ body: verificationBody({ padding: "x".repeat(LARGE_KIB * 1024) }) });
  const verdict = verdictOf(reply);
  const values = { size: LARGE_KIB, answered: describeAnswer(reply.answer, false) };
  if (verdict === "matched") return [finding("large_body", values)];
  // The examination `body` has shown that small bodies arrive unchanged, so the size is the cause.
  const isCut = verdict === "mismatched" || reply.code === "body_timeout";
  return [finding(isCut ? "body_cut" : "large_body_refused", values)];
}

/**
 * Sends the only probe that a receiver stores. The answer shows whether the store can write an
 * event.
 */
export async function examineTestEvent({ send }: Subject): Promise<Finding[]> {
  const data = { message: "A test event of signalbox doctor." };
  const event = { ...verificationEvent(), type: "webhook.test", data };
  const body = Buffer.from(JSON.stringify(event));
  return [storedOrNot("a test event", await send({ body, mayBeStored: true }))];
}

export function storedOrNot(what: string, { answer, code }: Reply): Finding {
  const answered = describeAnswer(answer, false);
  if (isSuccess(answer)) return finding("event_stored", { what, answered });
  const fix = explainCode(code)?.fix ?? "Read the receiver's log, which names the cause.";
  return finding("event_not_stored", { what, answered, fix });
}
