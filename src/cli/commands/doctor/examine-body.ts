import { gzipSync } from "node:zlib";
import { describeAnswer } from "../../deliveries/compare-answer.js";
import { bodyChanges, type BodyChange } from "./body-changes.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./finding.js";
import { verdictOf, verificationEvent, type Reply } from "./probe.js";
import { spellings, type Spelling } from "./spellings.js";

const MEND =
  "Let the receiver see the bytes as they were sent: mount it before every parser, and turn off whatever rewrites bodies " +
  "in the proxy or function before it.";

/** Does a body arrive byte for byte? If not: what is done to it? */
export async function examineBody(subject: Subject): Promise<Finding[]> {
  const key = subject.facts.key as string | Buffer;
  const sent: Tried[] = [];
  for (const spelling of spellings(subject.facts.isSignalbox === true)) {
    sent.push({ ...spelling, reply: await subject.send({ body: spelling.body, key }) });
  }
  const changed = sent.filter(({ reply }) => verdictOf(reply) === "mismatched");
  const kept = sent.filter(({ reply }) => verdictOf(reply) === "matched");
  const refused = sent.filter(({ reply }) => verdictOf(reply) === "unclear");
  const found = changed.length === 0 ? [] : [await explain(subject, changed, kept)];
  const all = [...found, ...refused.map(refusal), ...(await inflation(subject))];
  return all.length > 0 ? all : [ok("bytes_kept", `${sent.length} spellings of a body arrived byte for byte`)];
}

interface Tried extends Spelling {
  reply: Reply;
}

async function explain(subject: Subject, changed: readonly Tried[], kept: readonly Tried[]): Promise<Finding> {
  // What is at work changes all of these, and none of those.
  const possible = bodyChanges().filter(({ apply, mayKeep }) =>
    kept.every(({ body }) => apply(body).equals(body) || mayKeep?.(body) === true),
  );
  let suspects = possible.filter(({ apply }) => changed.every(({ body }) => !apply(body).equals(body)));
  const explained: Buffer[] = [];
  const unexplained: string[] = [];
  for (const { name, body } of changed) {
    const left = await thoseAtWork(subject, body, suspects);
    if (left.length === 0) {
      unexplained.push(name);
      continue;
    }
    suspects = left;
    explained.push(body);
  }
  const [change] = suspects;
  if (change === undefined || explained.length === 0) {
    const names = changed.map(({ name }) => name).join(", ");
    return blocker("body_changed", `the body is changed on its way, where it has ${names}`, MEND);
  }
  const what =
    change.id === "json_rewritten"
      ? "the JSON of the body is parsed and written again"
      : "the body is changed on its way";
  const more = unexplained.length === 0 ? "" : `; what becomes of ${unexplained.join(", ")} is not known here`;
  return blocker(change.id, `${what}: ${provenWords(change, possible, explained)}${more}`, MEND);
}

/** Of two ways to make the same of all that is explained, what one alone does is not known. */
function provenWords(change: BodyChange, possible: readonly BodyChange[], explained: readonly Buffer[]): string {
  const alike = possible.filter(
    ({ id, apply }) => id === change.id && explained.every((body) => apply(body).equals(change.apply(body))),
  );
  const proven = change.words.filter((word) => alike.every(({ words }) => words.includes(word)));
  return (proven.length === 0 ? change.words : proven).join(", ");
}

/** Signs what would arrive: what verifies does arrive. Those that make the same of this body are told apart by others. */
async function thoseAtWork(
  { send, facts }: Subject,
  body: Buffer,
  suspects: readonly BodyChange[],
): Promise<BodyChange[]> {
  const byResult = new Map<string, BodyChange[]>();
  for (const suspect of suspects) {
    const result = suspect.apply(body).toString("latin1");
    byResult.set(result, [...(byResult.get(result) ?? []), suspect]);
  }
  for (const [result, group] of byResult) {
    const reply = await send({ body, signed: Buffer.from(result, "latin1"), key: facts.key as string | Buffer });
    if (verdictOf(reply) === "matched") return group;
  }
  return [];
}

function refusal({ name, reply }: Tried): Finding {
  const mend = "See which parser or firewall answers that: the receiver gives every authentic body a 2xx.";
  return warning("body_refused", `a body with ${name} is answered ${describeAnswer(reply.answer, false)}`, mend);
}

async function inflation({ send, facts }: Subject): Promise<Finding[]> {
  const signed = Buffer.from(JSON.stringify(verificationEvent()));
  const headers = [["Content-Encoding", "gzip"]] as const;
  const reply = await send({ body: gzipSync(signed), signed, headers, key: facts.key as string | Buffer });
  if (verdictOf(reply) !== "matched") return [];
  const mend = "Turn that off, or the signature of a delivery that is sent compressed will never match.";
  return [warning("body_inflated", "a compressed body is inflated on its way", mend)];
}

const LARGE_BYTES = 200 * 1024;

export async function examineLargeBody({ send, facts }: Subject): Promise<Finding[]> {
  const body = Buffer.from(JSON.stringify(verificationEvent({ padding: "x".repeat(LARGE_BYTES) })));
  const reply = await send({ body, key: facts.key as string | Buffer });
  if (verdictOf(reply) === "matched") return [ok("large_body", "a body of 200 KiB is taken")];
  if (verdictOf(reply) === "mismatched" || reply.code === "body_timeout") {
    // Small ones arrived as they were sent.
    const found = `a body of 200 KiB does not arrive whole: it is answered ${describeAnswer(reply.answer, false)}`;
    const cure = "Raise the limit of the proxy or parser that cuts bodies, or holds them back.";
    return [problem("body_cut", found, cure)];
  }
  const mend =
    'Raise the limit of the parser or proxy that answers so (express.json({ limit: "256kb" }), client_max_body_size).';
  return [warning("large_body_refused", `a body of 200 KiB is answered ${describeAnswer(reply.answer, false)}`, mend)];
}
