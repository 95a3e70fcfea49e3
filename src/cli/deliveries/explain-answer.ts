import { failureOf } from "../../base/http/exchange.js";
import { echoed } from "../console/terminal.js";
import ANSWERS from "./answers.json" with { type: "json" };
import { errorCodeIn, type Answer, type Answered } from "./send-delivery.js";

/** Why a receiver did not verify a delivery, and what to do. */
export interface Fault {
  /** The id of the finding in `doctor`. */
  id: string;
  found: string;
  fix: string;
}

/**
 * Explains an answer that is neither the expected answer nor a refusal of the signature, or why
 * there is no answer.
 */
export function explainAnswer(answer: Answer, timeoutMs: number): Fault {
  if (answer.kind !== "answer") {
    const { kind, code } = answer;
    // The kind of failure and its code, with a blank between.
    const key = kind === "broken" ? code : `${failureOf(code)} ${code}`;
    return firstOf(ANSWERS[kind], key, { code, seconds: timeoutMs / 1000 }) as Fault;
  }
  return explainCode(errorCodeIn(answer)) ?? explainStatus(answer);
}

function explainStatus({ status, headers }: Answered): Fault {
  const { location } = headers;
  const target = location === undefined ? "" : ` to ${echoed(withoutSecretParts(location))}`;
  const key = headers["www-authenticate"] === undefined ? String(status) : "401";
  return firstOf(ANSWERS.statuses, key, { status, target }) as Fault;
}

/** A fault in the set-up of a signalbox receiver, by the code of its answer. */
export function explainCode(code: string | null): Fault | undefined {
  return firstOf(ANSWERS.codes, code ?? "");
}

type Values = Readonly<Record<string, string | number>>;

/** The fault of the first row whose pattern matches the text. */
function firstOf(
  rows: readonly (Fault & { pattern: string })[],
  text: string,
  values?: Values,
): Fault | undefined {
  const row = rows.find(({ pattern }) => new RegExp(pattern).test(text));
  return row && { id: row.id, found: filled(row.found, values), fix: row.fix };
}

/** The template with values in place of names such as `{code}`. */
export function filled(template: string, values: Values = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/**
 * The target without query, fragment, user name and password, because these may contain a secret.
 */
function withoutSecretParts(location: string): string {
  return location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
