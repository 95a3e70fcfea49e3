import type { Finding } from "./finding.js";
import type { Reply, SendProbe } from "./probe.js";
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

/** What an examination looks at, and what those before it found out. */
export interface Subject extends DoctorInput {
  surroundings: Surroundings;
  send: SendProbe;
  facts: Facts;
}

export interface Facts {
  /** Of the first probe. */
  contact?: Reply;
  /** It answers with our codes. */
  isSignalbox?: boolean;
  /** What signs for this receiver. */
  key?: string | Buffer;
  /** How long each answer took, in milliseconds. */
  times: number[];
}

export interface Examination {
  name: string;
  /** The heading that its findings stand under. */
  group: string;
  /** Those that must not have found a blocker, nor been skipped. */
  needs: readonly string[];
  /** Why it is not done this time; null: it is. */
  unless?: (subject: Subject) => string | null;
  run(subject: Subject): readonly Finding[] | Promise<readonly Finding[]>;
}
