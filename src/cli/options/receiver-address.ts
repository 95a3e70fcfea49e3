import { echoed } from "../console/printable.js";
import { usageError } from "./exit.js";

/** The address of a receiver on this machine that `init` made. Its port is PORT, or 3000. */
export function receiverAddress(env: NodeJS.ProcessEnv): URL {
  const port = env["PORT"] || "3000";
  if (/^\d{1,5}$/.test(port)) return new URL(`http://localhost:${port}/webhooks/signals`);
  throw usageError(`PORT is ${echoed(port)}, which is not a port: give --url`);
}
