import { EXAMINATIONS, INBOX, INSTALLATION } from "./examinations.js";
import type { Examination } from "./examination.js";

const LOCAL_GROUPS: ReadonlySet<string> = new Set([INSTALLATION, INBOX]);

/** The examinations of a file alone: nothing is sent. The others say why they are left out. */
export const ON_THIS_MACHINE: readonly Examination[] = EXAMINATIONS.map((examination) =>
  LOCAL_GROUPS.has(examination.group) ? examination : { ...examination, unless: () => "no --url URL was given" },
);
