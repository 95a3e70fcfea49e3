import { SIGNAL_TYPES, type KnownSignalType } from "../../../events/signal-types.js";
import type { Cli } from "../../console/cli.js";

/**
 * Asks for a signal type and for one of the products.
 *
 * @returns null when the user presses Escape or Ctrl-C
 */
export async function pickSignal(
  slugs: readonly string[],
  { stdin, stderr }: Pick<Cli, "stdin" | "stderr">,
  signal: AbortSignal,
): Promise<{ signal_type: KnownSignalType; slug: string } | null> {
  // Imported here, because most runs never ask.
  const { autocomplete, isCancel } = await import("@clack/prompts");
  const common = { input: stdin, output: stderr, signal, maxItems: 8 };
  const type = await autocomplete<string>({
    ...common,
    message: "Which signal type? Type a part of its name.",
    options: SIGNAL_TYPES.map((value) => ({ value, label: value })),
  });
  if (isCancel(type)) return null;
  const slug = await autocomplete<string>({
    ...common,
    message: "About which product?",
    options: [{ value: "", label: "any of them" }, ...slugs.map((value) => ({ value, label: value }))],
  });
  if (isCancel(slug)) return null;
  const any = slugs[Math.floor(Math.random() * slugs.length)] ?? "";
  return { signal_type: type as KnownSignalType, slug: slug === "" ? any : slug };
}
