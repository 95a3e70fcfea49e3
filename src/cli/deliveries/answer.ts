import type { IncomingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { shortened } from "../console/printable.js";
import type { Expectation } from "./fixture-folder.js";
import { isJsonObject } from "./restamp.js";

export interface Answered {
  kind: "answer";
  status: number;
  headers: IncomingHttpHeaders;
  /**
   * The complete body, for checks only. Do not print it, because it may quote a secret: print
   * `shown`.
   */
  body: string;
  /** For printing: the body without the secrets and signatures that a bad receiver may quote. */
  shown: string;
  ms: number;
}

export type Answer =
  | Answered
  | { kind: "unreachable"; code: string }
  /** The connection was made, but no complete answer was received. */
  | { kind: "broken"; code: string; ms: number };

export function isSuccess(answer: Answer): answer is Answered {
  return answer.kind === "answer" && answer.status >= 200 && answer.status < 300;
}

/**
 * Whether the answer is a 4xx. A 5xx is not a refusal, and neither is a missing answer: the service
 * then sends again.
 */
export function isRefusal(answer: Answer): answer is Answered {
  return answer.kind === "answer" && answer.status >= 400 && answer.status < 500;
}

export function isQuarantined(answer: Answer): boolean {
  return answer.kind === "answer" && answer.body === '{"received":true,"quarantined":true}';
}

function jsonIn(answer: Answer): unknown {
  if (answer.kind !== "answer") return undefined;
  try {
    return JSON.parse(answer.body) as unknown;
  } catch {
    return undefined;
  }
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

export function withoutSecrets(body: string, secrets: readonly string[]): string {
  const spellings = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return spellings
    .reduce((text, secret) => text.replaceAll(secret, "[the secret]"), body)
    .replaceAll(SIGNATURE, "[a signature]");
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
export type Wanted =
  "exact" | "exact-or-duplicate" | "status" | "accepted" | "refused" | "challenge";

export const JUDGES: Readonly<Record<Wanted, (answer: Answer, expected: Expectation) => boolean>> =
  {
    exact: isExact,
    "exact-or-duplicate": (answer, expected) =>
      isExact(answer, expected) ||
      (isJsonObject(expected.body) &&
        isExact(answer, { ...expected, body: { ...expected.body, duplicate: true } })),
    status: hasStatus,
    accepted: isSuccess,
    refused: isRefusal,
    challenge: (answer, { body }) =>
      isSuccess(answer) &&
      isJsonObject(body) &&
      propertyIn(answer, "challenge") === body["challenge"],
  };

function hasStatus(answer: Answer, { status }: Expectation): boolean {
  return answer.kind === "answer" && answer.status === status;
}

function isExact(answer: Answer, expected: Expectation): boolean {
  if (!hasStatus(answer, expected)) return false;
  if (expected.code !== undefined) return errorCodeIn(answer) === expected.code;
  return expected.body === undefined || isDeepStrictEqual(jsonIn(answer), expected.body);
}

const DESCRIPTIONS: Partial<Record<Wanted, string>> = {
  accepted: "2xx",
  refused: "4xx",
  challenge: "2xx with the challenge",
};

/** Such as `2xx`, `401 signature_missing` or `405`. */
export function describeWanted(wanted: Wanted, { status, code, body }: Expectation): string {
  const exact = code ?? summaryOf(body) ?? "";
  return (
    DESCRIPTIONS[wanted] ?? (wanted === "status" ? String(status) : `${status} ${exact}`.trim())
  );
}
