/** A file that a template wants to have. */
export interface PlannedFile {
  /** Inside the folder that is written to, with `/`. */
  path: string;
  content: string;
  /** It holds a secret: others on the machine may not read it. */
  isPrivate?: true;
}

/** What a template writes, and what its user does then. Nothing is written before the plan is whole. */
export interface Plan {
  files: readonly PlannedFile[];
  /** Lines to print once all is written: what to type, or what to add by hand. */
  nextSteps: readonly string[];
}
