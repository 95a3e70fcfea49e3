import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { areHandedOff, hasBegun, startReceiver } from "../child-process.js";
import { inboxFiles } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";

interface Line {
  name: string;
  traceId: string;
  spanId: string;
  parentId: string | null;
}

test("after a kill and a restart the hand-off is in the trace of its delivery", async () => {
  const files = inboxFiles();
  const traced = { ...files, traces: `${files.log}.spans` };
  const readSpans = (): Line[] => {
    const lines = readFileSync(traced.traces, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line);
  };
  const event = eventThat("waits");
  const first = await startReceiver(traced);
  expect(isAcknowledged(await send(first.port, event))).toBe(true);
  await hasBegun(first, event.id);
  first.kill("SIGKILL");
  await first.exited;
  const receive = readSpans().find(({ name }) => name === "receive default");
  const ownOfFirst = readSpans().filter(({ name }) => name === "own").length;
  expect([readSpans().some(({ name }) => name === "hand-off default"), ownOfFirst]).toEqual([
    false,
    1,
  ]);

  const second = await startReceiver(traced);
  await hasBegun(second, event.id);
  second.kill("SIGUSR2");
  await second.until("the hand-off", areHandedOff([event.id]));
  const handOff = readSpans().find(({ name }) => name === "hand-off default");
  expect(handOff).toMatchObject({ traceId: receive?.traceId, parentId: receive?.spanId });
  const own = readSpans().findLast(({ name }) => name === "own");
  expect(own).toMatchObject({ traceId: receive?.traceId, parentId: handOff?.spanId });
});
