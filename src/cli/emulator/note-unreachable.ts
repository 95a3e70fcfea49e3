import type { AssumptionOptions } from "../../emulator/assumption-options.js";
import type { Emulator } from "../../emulator/create-emulator.js";
import { unreachableRegistrations } from "../../emulator/webhooks/unreachable-registrations.js";
import type { Terminal } from "../terminal.js";

/** Tells of registrations in the file that get nothing, for want of the switch that they were made with. */
export async function noteUnreachable(
  { control }: Emulator,
  { allowLoopbackHttp = false }: AssumptionOptions,
  terminal: Terminal,
): Promise<void> {
  const { items } = await control.listRegistrations({});
  const [first, ...others] = unreachableRegistrations(items, { allowLoopbackHttp });
  if (first === undefined) return;
  const who = others.length === 0 ? `${first} gets` : `${first} and ${others.length} more get`;
  terminal.note(`warning: ${who} nothing: the address is on this machine; start with --allow-loopback-http`);
}
