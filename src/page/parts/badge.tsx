import type { ComponentChildren } from "preact";

export type Tone = "good" | "bad" | "warn" | "idle" | "busy";

/** A state in a word or two. The word says it; the colour repeats it. */
export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);
