import type { ComponentChildren, JSX } from "preact";

export type Tone = "good" | "bad" | "warn" | "idle" | "busy";

/** A state in a word or two. The word says it; the colour repeats it. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}
