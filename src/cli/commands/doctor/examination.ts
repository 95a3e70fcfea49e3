import type { IncomingHttpHeaders } from "node:http";
import type { Answer } from "../../deliveries/answer.js";
import type { Finding } from "./findings.js";
import type { Surroundings } from "./surroundings.js";

export interface DoctorInput {
  url: URL;
  secrets: readonly [string, ...string[]];
  /** The inbox's file, when it is on this machine. */
  db?: string;
  timeoutMs: number;
  /** Whether one `webhook.test` event may be sent, which the receiver stores. */
  sendsTestEvent: boolean;
  signal: AbortSignal;
}

/** What an examination works with, and what those before it found out. */
export interface Subject extends DoctorInput {
  surroundings: Surroundings;
  send: SendProbe;
  facts: Facts;
}

export interface Facts {
  /** The reply to the first probe. */
  contact?: Reply;
  /** It answers with the codes of signalbox. */
  isSignalbox?: boolean;
  /** What signs for this receiver. */
  key?: string | Buffer;
}

export interface Examination {
  name: string;
  /** The heading that its findings stand under. */
  group: string;
  /** It is skipped when one of these was skipped or found a blocker. */
  needs: readonly string[];
  /** Why it is not done this time; null when it is. */
  unless?: (subject: Subject) => string | null;
  run(subject: Subject): readonly Finding[] | Promise<readonly Finding[]>;
}

/** A delivery that is sent to see what becomes of it. */
export interface Probe {
  body: Buffer;
  /** As text or, to try out a decoded secret, as bytes. @default the key that was found, or the first secret */
  key?: string | Buffer;
  /** The bytes that are signed. @default body */
  signed?: Buffer;
  /** Seconds from now to the time of signing; negative for the past. @default 0 */
  skewSeconds?: number;
  headers?: readonly (readonly [name: string, value: string])[];
  /** The receiver may store it. Without this, the receiver must refuse for its age what it would store. */
  mayBeStored?: true;
}

export interface Reply {
  answer: Answer;
  headers: IncomingHttpHeaders;
  /** The `error.code` of the answer. */
  code: string | null;
  /** The challenge came back with a 2xx. */
  isVerified: boolean;
  /** The time of this machine in the middle of the exchange, in milliseconds since 1970. */
  at: number;
}

export type SendProbe = (probe: Probe) => Promise<Reply>;
