import { createHash } from "node:crypto";

const STAMP = /^\/\/ Written by signalbox init \(([0-9a-f]{12})\); it is yours to change\.\r?\n/;

/** Says in the first line who wrote it, with a digest of the rest: so it can be told from what a person changed. */
export function stamped(text: string): string {
  return `// Written by signalbox init (${digestOf(text)}); it is yours to change.\n${text}`;
}

/** Whether init wrote it and nobody changed it since. */
export function isUntouched(content: string): boolean {
  const stamp = STAMP.exec(content);
  return stamp !== null && stamp[1] === digestOf(content.slice(stamp[0].length));
}

function digestOf(text: string): string {
  // git may have changed the line ends.
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex").slice(0, 12);
}
