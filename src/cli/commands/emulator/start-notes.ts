import { systemClock } from "../../../time/clock.js";
import type { AssumptionOptions } from "../../../emulator/instance/assumption-options.js";
import { isLoopbackHost } from "../../../addresses/address-kind.js";
import type { Emulator } from "../../../emulator/instance/create-emulator.js";
import { unreachableRegistrations } from "../../../emulator/webhooks/registrations/unreachable-registrations.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import { clockHelp } from "./emulator-logger.js";

interface Start {
  host: string;
  assumptions: AssumptionOptions;
}

/** What somebody may not have meant, and what to do about it. */
export async function startNotes({ control }: Pick<Emulator, "control">, start: Start): Promise<string[]> {
  const { now } = await control.now();
  const { items } = await control.listRegistrations({});
  const notes = [timeNote(now, start), networkNote(start), unreachableNote(items, start)];
  return notes.filter((note) => note !== null);
}

function timeNote(now: string, { assumptions }: Start): string | null {
  const aheadSeconds = Math.round((Date.parse(now) - systemClock.now()) / 1000);
  if (assumptions.signatureClock === "machine" || Math.abs(aheadSeconds) <= DEFAULT_TOLERANCE_SECONDS) return null;
  return `note: ${clockHelp(aheadSeconds)}`;
}

function networkNote({ host }: Start): string | null {
  if (isLoopbackHost(host)) return null;
  return (
    `note: others on the network can reach ${host}: the REST API with a key, the product profile without; ` +
    "the control API answers this machine alone (a proxy or tunnel on this machine counts as that)"
  );
}

/** Of registrations in the file that get nothing, for want of the switch that they were made with. */
function unreachableNote(
  registrations: Parameters<typeof unreachableRegistrations>[0],
  { assumptions: { allowLoopbackHttp = false } }: Start,
): string | null {
  const [first, ...others] = unreachableRegistrations(registrations, { allowLoopbackHttp });
  if (first === undefined) return null;
  const who = others.length === 0 ? `${first} gets` : `${first} and ${others.length} more get`;
  return `warning: ${who} nothing: the address is on this machine; start with --allow-loopback-http`;
}
