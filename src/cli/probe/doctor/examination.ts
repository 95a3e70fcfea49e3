import type { IncomingHttpHeaders } from "node:http";
import type { SignalboxError } from "../../../base/errors.js";
import type { AnySender } from "../../../kit/senders/engine/sender.js";
import type { Answer } from "../../deliveries/answer.js";
import type { Surroundings } from "./surroundings.js";

export interface DoctorInput {
  /** The receiver's address; null to examine only the inbox. */
  url: URL | null;
  secrets: readonly string[];
  /** Whose receiver it is; absent for the service's. */
  sender?: AnySender;
  db?: string;
  schema?: string;
  /** @default all of the inbox */
  endpoint?: string | undefined;
  /** Judges only what was given up, quarantined or refused since then. */
  since?: number | undefined;
  timeoutMs: number;
  /** Whether to send one `webhook.test` event, which the receiver stores. */
  sendsTestEvent: boolean;
  signal: AbortSignal;
}

export interface Subject extends DoctorInput {
  url: URL;
  surroundings: Surroundings;
  send: SendProbe;
  facts: Facts;
}

/** What earlier examinations found out and later examinations use. */
export interface Facts {
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

export interface Examination {
  name: string;
  group: string;
  /**
   * Names of examinations. If one of them was skipped or found a blocker, this examination is
   * skipped.
   */
  needs: readonly string[];
  /** @returns why this examination is skipped; null to run it */
  unless?: (subject: Subject) => string | null;
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

export type SendProbe = (probe: Probe) => Promise<Reply>;

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

export function ok(id: string, found: string): Finding {
  return { level: "ok", id, found, fix: null };
}

export function warning(id: string, found: string, fix: string): Finding {
  return { level: "warning", id, found, fix };
}

export function problem(id: string, found: string, fix: string): Finding {
  return { level: "problem", id, found, fix };
}

/** A problem that makes the dependent examinations pointless, so they are skipped. */
export function blocker(id: string, found: string, fix: string): Finding {
  return { ...problem(id, found, fix), blocks: true };
}

export function refusedWith(id: string, { message, help }: SignalboxError): Finding {
  const found = message.slice(0, message.length - help.length).trim();
  return problem(id, found.replace(/\.$/, ""), help);
}
