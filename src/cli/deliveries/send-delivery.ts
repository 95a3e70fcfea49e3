import type { Agent, ClientRequest, OutgoingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { safely } from "../../base/errors.js";
import { exchange, type Exchanged } from "../../base/http/exchange.js";
import { environmentError } from "../console/exit.js";
import { shortened } from "../console/terminal.js";
import { isJsonObject } from "./event-source.js";

export interface OutgoingDelivery {
  /** @default "POST" */
  method?: string;
  /** A value that is a list is sent as several header lines. */
  headers: OutgoingHttpHeaders;
  body: Buffer;
  isChunked?: boolean;
}

/** The receiver, and how it is asked. */
export interface Target {
  url: URL;
  /** The first one signs. All are removed from an answer's `shown`. */
  secrets: readonly string[];
  timeoutMs: number;
  signal: AbortSignal;
  /** Without one each delivery has its own connection. */
  agent?: Agent;
}

/** Delays the last byte of the body, so that many deliveries can be completed at one moment. */
export interface Hold {
  onHeld(): void;
  release: Promise<unknown>;
}

/** A receiver made with signalbox answers with at most a few hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Makes one request. @throws when the signal is aborted */
export async function sendDelivery(
  { url, secrets, timeoutMs, signal, agent }: Target,
  { method = "POST", headers: given, body, isChunked = false }: OutgoingDelivery,
  hold?: Hold,
): Promise<Answer> {
  const headers: OutgoingHttpHeaders = { "User-Agent": "signalbox", ...given };
  if (isChunked) headers["Transfer-Encoding"] = "chunked";
  else if (body.length > 0 || method === "POST" || method === "PUT")
    headers["Content-Length"] = body.length;
  const how = { method, headers, timeoutMs, signal, maxAnswerBytes: MAX_ANSWER_BYTES };
  const answer = await exchange(url, { ...how, ...(agent && { agent }) }, (request) => {
    if (hold !== undefined) writeHeld(request, body, hold);
    else if (isChunked) writeChunks(request, body);
    else request.end(body);
  });
  signal.throwIfAborted();
  if (answer.kind !== "answer") return answer;
  const text = answer.body.toString("utf8");
  return { ...answer, body: text, shown: withoutSecrets(text, secrets) };
}

export function unreachable(url: URL, code: string): Error {
  // The user name and the password are removed, because build servers log this line.
  const shown = Object.assign(new URL(url), { username: "", password: "" });
  return environmentError(`cannot connect to ${shown.href} (${code}): is the receiver running?`);
}

function writeChunks(request: ClientRequest, body: Buffer): void {
  const size = Math.max(1, Math.min(16 * 1024, Math.ceil(body.length / 3)));
  for (let start = 0; start < body.length; start += size)
    request.write(body.subarray(start, start + size));
  request.end();
}

function writeHeld(request: ClientRequest, body: Buffer, { onHeld, release }: Hold): void {
  request.write(body.subarray(0, -1), onHeld);
  void release.then(() => request.end(body.subarray(-1)));
}

export interface Answered extends Omit<Extract<Exchanged, { kind: "answer" }>, "body"> {
  /**
   * The complete body, for checks only. Do not print it, because it may quote a secret: print
   * `shown`.
   */
  body: string;
  /** For printing: the body without the secrets and signatures that a bad receiver may quote. */
  shown: string;
}

export type Answer = Answered | Exclude<Exchanged, { kind: "answer" }>;

const hasStatusOf = (answer: Answer, hundred: number): answer is Answered =>
  answer.kind === "answer" && Math.floor(answer.status / 100) === hundred;

export const isSuccess = (answer: Answer): answer is Answered => hasStatusOf(answer, 2);

/**
 * Whether the answer is a 4xx. A 5xx is not a refusal, and neither is a missing answer: the service
 * then sends again.
 */
export const isRefusal = (answer: Answer): answer is Answered => hasStatusOf(answer, 4);

export function isQuarantined(answer: Answer): boolean {
  return answer.kind === "answer" && answer.body === '{"received":true,"quarantined":true}';
}

/** Of a receiver that says so. */
export function isMarkedDuplicate(answer: Answer): boolean {
  return propertyIn(answer, "duplicate") === true;
}

function jsonIn(answer: Answer): unknown {
  if (answer.kind !== "answer") return undefined;
  return safely<unknown>(() => JSON.parse(answer.body), undefined);
}

export function propertyIn(answer: Answer, name: string): unknown {
  const json = jsonIn(answer);
  return isJsonObject(json) ? json[name] : undefined;
}

/** The code of a refusal: `{"error":{"code":…}}`. */
export function errorCodeIn(answer: Answer): string | null {
  const error = propertyIn(answer, "error");
  const code = isJsonObject(error) ? error["code"] : null;
  return typeof code === "string" ? code : null;
}

/**
 * Such as `401 signature_missing` or `200 duplicate`. With `inFull` the text quotes the body after
 * the status.
 */
export function describeAnswer(answer: Answer, inFull: boolean): string {
  if (answer.kind === "unreachable") return `no connection (${answer.code})`;
  if (answer.kind === "broken") return `no answer (${answer.code})`;
  const summary = inFull ? null : (errorCodeIn(answer) ?? summaryOf(jsonIn(answer)));
  return `${answer.status} ${shortened(summary ?? answer.shown.trim(), 60)}`.trim();
}

/**
 * Shortens an answer of a signalbox receiver to its last property:
 * `{"received":true,"duplicate":true}` → "duplicate".
 */
function summaryOf(body: unknown): string | null {
  if (!isJsonObject(body)) return null;
  const isOwn = Object.entries(body).every(
    ([name, value]) => value === true || name === "challenge",
  );
  return isOwn ? (Object.keys(body).at(-1) ?? null) : null;
}

const SIGNATURE = /\b[0-9a-f]{64}\b/gi;

function withoutSecrets(body: string, secrets: readonly string[]): string {
  return (
    secrets
      .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
      // A shorter one is no secret, and is in every word of an answer.
      .filter(({ length }) => length > 3)
      .reduce((text, secret) => text.replaceAll(secret, "[the secret]"), body)
      .replaceAll(SIGNATURE, "[a signature]")
  );
}

/** What a case expects of a receiver that is made with signalbox. */
export interface Expectation {
  status: number;
  body?: unknown;
  /** Of the error. */
  code?: string | undefined;
}

/**
 * How the answer of a receiver is judged.
 * - `exact`: it must have the status, and the code or the body, that the case expects. Only
 *   receivers made with signalbox answer with these codes and bodies.
 * - `exact-or-duplicate`: like `exact`, but the body may also contain `"duplicate":true`.
 * - `status`: it must have the status that the case expects.
 * - `accepted` (2xx), `refused` (4xx), `challenge` (2xx and the challenge): as the service's
 *   document requires.
 */
export type Wanted = keyof typeof JUDGES;

type Judge = (answer: Answer, expected: Expectation) => boolean;

const hasStatus: Judge = (answer, { status }) =>
  answer.kind === "answer" && answer.status === status;

const isExact: Judge = (answer, expected) => {
  if (!hasStatus(answer, expected)) return false;
  if (expected.code !== undefined) return errorCodeIn(answer) === expected.code;
  return expected.body === undefined || isDeepStrictEqual(jsonIn(answer), expected.body);
};

const challengeOf = ({ body }: Expectation): unknown =>
  isJsonObject(body) ? body["challenge"] : undefined;

export const JUDGES = {
  exact: isExact,
  "exact-or-duplicate": (answer, expected) =>
    isExact(answer, expected) ||
    (isJsonObject(expected.body) &&
      isExact(answer, { ...expected, body: { ...expected.body, duplicate: true } })),
  status: hasStatus,
  accepted: isSuccess,
  refused: isRefusal,
  challenge: (answer, expected) =>
    isSuccess(answer) && propertyIn(answer, "challenge") === challengeOf(expected),
} satisfies Record<string, Judge>;

/** Such as `2xx`, `401 signature_missing` or `405`. */
export function describeWanted(wanted: Wanted, { status, code, body }: Expectation): string {
  const words: Partial<Record<Wanted, string>> = {
    accepted: "2xx",
    refused: "4xx",
    challenge: "2xx with the challenge",
    status: String(status),
  };
  return words[wanted] ?? `${status} ${code ?? summaryOf(body) ?? ""}`.trim();
}

export type AnswerTimes = NonNullable<ReturnType<typeof answerTimes>>;

/** @returns null when there is no duration */
export function answerTimes(durations: readonly number[]) {
  if (durations.length === 0) return null;
  const sorted = durations.toSorted((a, b) => a - b);
  const quantile = (part: number): number =>
    rounded(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
  return { count: sorted.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) };
}

export function describeTimes({ p50Ms, p99Ms, maxMs }: AnswerTimes): string {
  return `median ${p50Ms} ms, 99th percentile ${p99Ms} ms, slowest ${maxMs} ms`;
}

export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
