import { createHmac, randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { accessSync, constants } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { SignalboxError } from "../../../base/errors.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";
import type { AnySender } from "../../../kit/senders/engine/sender.js";
import { parseEvent } from "../../../kit/senders/signals/parse-event.js";
import { SIGNATURE_HEADER } from "../../../kit/senders/signature/header.js";
import { uniqueEventId } from "../../deliveries/event-source.js";
import { filled, type Fault } from "../../deliveries/explain-answer.js";
import {
  errorCodeIn,
  isSuccess,
  propertyIn,
  type Answer,
  sendDelivery,
  type OutgoingDelivery,
  type Target,
} from "../../deliveries/send-delivery.js";
import type { Step } from "../run-steps.js";
import FINDINGS from "./findings.json" with { type: "json" };

export interface DoctorInput extends Omit<Target, "url"> {
  /** The receiver's address; null to examine only the inbox. */
  url: URL | null;
  /** Whose receiver it is; absent for the service's. */
  sender?: AnySender | undefined;
  db?: string | undefined;
  schema?: string | undefined;
  /** @default all of the inbox */
  endpoint?: string | undefined;
  /** Judges only what was given up, quarantined or refused since then. */
  since?: number | undefined;
  /** Whether to send one `webhook.test` event, which the receiver stores. */
  sendsTestEvent: boolean;
}

export interface Subject extends DoctorInput {
  url: URL;
  surroundings: Surroundings;
  send: (probe: Probe) => Promise<Reply>;
  facts: Facts;
}

/** What earlier examinations found out and later examinations use. */
interface Facts {
  contact?: Reply;
  /** Another program holds the inbox file. */
  isInboxBusy?: boolean;
  /** The sample of a sender that a receiver stores, and the headers that its id may stand in. */
  sampled?: { at: number; bytes: Buffer; headers: Readonly<Record<string, string>> };
  /** The receiver's answers have signalbox's error codes, so it is a receiver of signalbox. */
  isSignalbox?: boolean;
  /** The key that the receiver verifies with, as far as it is known. */
  key?: string | Buffer;
}

/** One that was skipped or found a blocker blocks those that need it. */
export interface Examination extends Step {
  group: string;
  run(subject: Subject): readonly Finding[] | Promise<readonly Finding[]>;
}

export interface Probe {
  body: Buffer;
  /**
   * The signing key: text or, to try a decoded secret, bytes. @default the key that was found, or
   * the first secret
   */
  key?: string | Buffer;
  /** The bytes to sign. @default the body */
  signed?: Buffer;
  /** The difference between the signature's timestamp and now; negative for the past. @default 0 */
  skewSeconds?: number;
  /**
   * Whether the receiver is allowed to store the probe. If this is not set, a probe that the
   * receiver could store is signed with a very old timestamp, so that the receiver must refuse it.
   */
  mayBeStored?: true;
}

export interface Reply {
  answer: Answer;
  headers: IncomingHttpHeaders;
  code: string | null;
  /** The answer is a 2xx with the challenge. */
  isVerified: boolean;
  /** The time of this machine in the middle of the exchange, in milliseconds since 1970. */
  at: number;
}

export interface Finding {
  level: "ok" | "warning" | "problem";
  /** It never changes, because programs may branch on it. docs/doctor.md lists all ids. */
  id: string;
  /** One line, without secrets and signatures. */
  found: string;
  /** How to fix it, in one line; null when the level is `ok`. */
  fix: string | null;
  /** What to type for it. */
  commands?: readonly string[];
  blocks?: true;
}

type Catalogued = keyof typeof FINDINGS;

interface Row {
  level: Finding["level"] | "blocker";
  found: string;
  fix?: string;
  commands?: readonly string[];
}

/**
 * A finding of the catalogue, in whose texts the values stand in place of their names.
 *
 * @param key its id, or its id, a colon and which of several it is
 */
export function finding(key: Catalogued, values: Parameters<typeof filled>[1] = {}): Finding {
  const { level, found, fix, commands } = FINDINGS[key] as Row;
  return {
    level: level === "blocker" ? "problem" : level,
    id: key.replace(/:.*/, ""),
    found: filled(found, values),
    fix: fix === undefined ? null : filled(fix, values),
    ...(commands && { commands }),
    ...(level === "blocker" && { blocks: true }),
  };
}

/** A problem that another room has explained. */
export function problem({ id, found, fix }: Fault): Finding {
  return { level: "problem", id, found, fix };
}

/** A problem that makes the dependent examinations pointless, so they are skipped. */
export function blocker(fault: Fault): Finding {
  return { ...problem(fault), blocks: true };
}

export function refusedWith(id: string, { message, help }: SignalboxError): Finding {
  const found = message.slice(0, message.length - help.length).trim();
  return problem({ id, found: found.replace(/\.$/, ""), fix: help });
}

/** What the examinations read from this machine. Tests pass other values. */
export const SURROUNDINGS = {
  /** @throws Error when the host has no address */
  async resolve(host: string): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  },
  /** @throws Error when SQLite's driver cannot be used */
  tryDriver(): void {
    loadDriver();
  },
  isWritable(path: string): boolean {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  now: () => Date.now(),
};

export type Surroundings = typeof SURROUNDINGS;

const CHALLENGE = `doctor-${randomBytes(18).toString("base64url")}`;

/**
 * A `webhook.verification` event, which a receiver answers, but does not store or hand off. Its
 * keys are sorted and none of its characters needs an escape, so most programs that rewrite JSON
 * leave its bytes as they are.
 */
export function verificationEvent(
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    created_at: new Date().toISOString(),
    data: { challenge: CHALLENGE, ...extra },
    id: uniqueEventId(),
    type: "webhook.verification",
    version: "1",
  };
}

export function verificationBody(extra?: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(JSON.stringify(verificationEvent(extra)));
}

/**
 * Probes that must not be stored get a timestamp this long ago. The receiver refuses them, and its
 * error code still shows whether the signature matches.
 */
const LONG_AGO_SECONDS = -1_000_000_000;

/** Sends a delivery of the service, and notes what the answer shows. */
export async function sendProbe(
  subject: Omit<Subject, "send">,
  { body, signed = body, key, skewSeconds = 0, mayBeStored }: Probe,
): Promise<Reply> {
  const { surroundings, facts, secrets } = subject;
  const skew = mayBeStored === true || isVerification(signed) ? skewSeconds : LONG_AGO_SECONDS;
  const timestamp = String(Math.max(0, Math.floor(surroundings.now() / 1000) + skew));
  const hmac = createHmac("sha256", key ?? facts.key ?? secrets[0] ?? "");
  const v1 = hmac.update(`${timestamp}.`).update(signed).digest("hex");
  const signature = { [SIGNATURE_HEADER]: `t=${timestamp},v1=${v1}` };
  return post(subject, { headers: { "Content-Type": "application/json", ...signature }, body });
}

/** Sends a delivery, and notes what the answer shows. */
export async function post(
  subject: Omit<Subject, "send">,
  delivery: OutgoingDelivery,
): Promise<Reply> {
  const { now } = subject.surroundings;
  const before = now();
  const answer = await sendDelivery(subject, delivery);
  return {
    answer,
    headers: answer.kind === "answer" ? answer.headers : {},
    code: errorCodeIn(answer),
    isVerified: isSuccess(answer) && propertyIn(answer, "challenge") === CHALLENGE,
    at: (before + now()) / 2,
  };
}

function isVerification(signed: Buffer): boolean {
  const parsed = parseEvent(signed);
  return parsed.kind === "known" && parsed.event.type === "webhook.verification";
}

/**
 * Whether the answer shows that the signature matches. A receiver checks the digest before the age,
 * so if the receiver refuses a signature only because of its age, the signature matched. A 401
 * without a code counts as `mismatched`, unless it asks for a login. Any other answer is `unclear`.
 */
export function verdictOf({
  answer,
  code,
  headers,
  isVerified,
}: Reply): "matched" | "mismatched" | "unclear" {
  if (isVerified || code === "timestamp_out_of_tolerance") return "matched";
  if (code === "signature_mismatch") return "mismatched";
  const isBare401 = answer.kind === "answer" && answer.status === 401 && code === null;
  return isBare401 && headers["www-authenticate"] === undefined ? "mismatched" : "unclear";
}
