import type { SignalboxError } from "../../../errors.js";

export interface Finding {
  level: "ok" | "warning" | "problem";
  /** Stable: programs may branch on it. README's table of findings has them all. */
  id: string;
  /** One line. Never a secret, nor a digest made with one. */
  found: string;
  /** One line on what to do; null when all is well. */
  fix: string | null;
  /** What depends on it cannot be examined any more. */
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

/** A problem after which all that depends on it is skipped. */
export function blocker(id: string, found: string, fix: string): Finding {
  return { ...problem(id, found, fix), blocks: true };
}

/** A refusal of the library as a finding. */
export function refusedWith(id: string, { message, help }: SignalboxError): Finding {
  const found = message.slice(0, message.length - help.length).trim();
  return problem(id, found.replace(/\.$/, ""), help);
}
