import type { FindingId } from "./finding-ids.js";

export interface Finding {
  level: "ok" | "warning" | "problem";
  /** Stable: to branch on. */
  id: FindingId;
  /** One line. Never a secret, nor a digest made with one. */
  found: string;
  /** One line on what to do; null when all is well. */
  mend: string | null;
  /** What depends on it makes no sense any more. */
  blocks?: true;
}

export function ok(id: FindingId, found: string): Finding {
  return { level: "ok", id, found, mend: null };
}

export function warning(id: FindingId, found: string, mend: string): Finding {
  return { level: "warning", id, found, mend };
}

export function problem(id: FindingId, found: string, mend: string): Finding {
  return { level: "problem", id, found, mend };
}

/** A problem after which all that depends on it is skipped. */
export function blocker(id: FindingId, found: string, mend: string): Finding {
  return { ...problem(id, found, mend), blocks: true };
}
