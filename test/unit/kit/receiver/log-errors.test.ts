import { expect, test } from "vitest";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { hostileProxy, throwing } from "../../hostile.js";
import { turns } from "../../until.js";
import { faultyStore } from "../inbox/faulty-store.js";
import { startRig } from "../inbox/receiver-rig.js";

interface Line {
  msg: string;
  errorName?: string;
  err?: { message: string; stack: string } | string;
}

/** What is logged about the errors of the user's callback, listener and store. */
async function linesAbout(thrown: unknown, logErrors?: boolean): Promise<Line[]> {
  const { logger, lines } = logLines();
  const store = faultyStore();
  const rig = await startRig({ logger, logErrors, store, onSignal: () => Promise.reject(thrown) });
  rig.receiver.on("accepted", () => {
    throw thrown;
  });
  await rig.deliver();
  await turns();
  store.fail(thrown as Error);
  await rig.deliver(signalEvent());
  await turns();
  store.fail(null);
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  return parsed.filter(({ msg }) =>
    /^(a hand-off failed|a listener failed|the inbox failed)/.test(msg),
  );
}

test.each([undefined, false])(
  "of an error of the user's code all is logged, causes too, or with logErrors: false its name alone: %s",
  async (logErrors) => {
    const thrown = new TypeError("queue is down", { cause: new Error("refused") });
    const lines = await linesAbout(thrown, logErrors);
    expect(lines.map(({ errorName }) => errorName)).toEqual(Array(3).fill("TypeError"));
    if (logErrors === false)
      expect(JSON.stringify(lines)).not.toMatch(/queue is down|log-errors\.test/);
    else
      for (const { err } of lines)
        expect(err).toMatchObject({
          message: "queue is down: refused",
          stack: expect.stringMatching(
            /log-errors\.test\.ts[^]*caused by: Error: refused/,
          ) as string,
        });
  },
);

const circular = new Error("circular");
circular.cause = circular;

// pino cannot serialise some of these.
test.each([
  ["a text", "queue is down", "thrown: queue is down"],
  ["a hostile getter", Object.defineProperty(new Error("x"), "stack", throwing), "Error: x"],
  ["a hostile proxy", hostileProxy(), "thrown: a value that cannot be read"],
  ["a circular cause", circular, "circular"],
  ["a huge message", new Error("x".repeat(1_000_000)), "x".repeat(1_000_000)],
])("whatever is thrown, the line is written: %s", async (_what, thrown, start) => {
  const lines = await linesAbout(thrown);
  expect(lines).toHaveLength(3);
  for (const { err } of lines) {
    expect((typeof err === "string" ? err : err?.message)?.startsWith(start)).toBe(true);
  }
});
