import type { AnySender } from "./engine/sender.js";
import * as senders from "./index.js";
import { SENDERS, type Factory } from "./records.js";
import { signals } from "./signals/signals.js";

/** What a tool knows and the sender may need: its secret, and options by their names. */
export interface ToolOptions {
  secret?: string | undefined;
  [option: string]: string | undefined;
}

/** A sender by its name, for tools: to sign, to verify, and to read stored events. */
export function builtInSender(
  name: string,
  { secret = "whsec_", ...known }: ToolOptions = {},
): AnySender | undefined {
  if (name === signals.name) return signals;
  const record = SENDERS.find((each) => each.name === name);
  if (record === undefined) return undefined;
  const needed = Object.entries(record.needs).map(([option, { local }]) => [
    option,
    known[option] ?? local,
  ]);
  // The type of `RECORDS` has all that the function needs.
  const makers = { ...senders } as unknown as Record<Factory, (options: object) => AnySender>;
  return makers[record.factory]({
    ...Object.fromEntries(needed),
    ...record.optionsOfSecret(secret),
  });
}
