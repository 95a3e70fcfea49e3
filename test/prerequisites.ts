import { createConnection } from "node:net";
import { test } from "vitest";

/**
 * `test`, for what needs something of the machine. Where that is missing the test is skipped by
 * name; in CI it runs, and fails.
 */
export function testWith(isPresent: boolean): ReturnType<typeof test.skipIf> {
  return test.skipIf(!isPresent && process.env["CI"] === undefined);
}

/** Whether a server listens on this port of this machine. */
export async function hasServer(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
