import type { SignalboxError } from "../../../errors.js";

export interface Finding {
  level: "ok" | "warning" | "problem";
  /** It never changes, because programs may branch on it. docs/doctor.md lists all ids. */
  id: string;
  /** One line, without secrets and signatures. */
  found: string;
  /** How to fix it, in one line; null when the level is `ok`. */
  fix: string | null;
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
