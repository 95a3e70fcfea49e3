import { echoed } from "./printable.js";
import { usageError } from "./exit.js";

/** The address of a receiver on this machine that `init` made. Its port is PORT, or 3000. */
export function receiverAddress(env: NodeJS.ProcessEnv): URL {
  const port = env["PORT"] || "3000";
  const address = `http://localhost:${port}/webhooks/signals`;
  if (/^\d+$/.test(port) && URL.canParse(address)) return new URL(address);
  throw usageError(`PORT is ${echoed(port)}, which is not a port: give --url`);
}
