import { expect, test } from "vitest";
import type { Telemetry, TelemetryHooks } from "../../../src/index.js";
import { logLines } from "../../http/log-lines.js";
import { startRig } from "../inbox/receiver-rig.js";
import { until } from "../until.js";

const fail = (): never => {
  throw new Error("the SDK is broken");
};

/** Hooks that do nothing but this. */
function hooksOf(act: () => unknown): TelemetryHooks {
  const traceParent = null;
  return {
    close: act,
    receive: () => ({ traceParent, end: act }),
    commit: () => act,
    handOff: act,
    handOffEnded: act,
    dead: act,
  };
}

const BROKEN = { close: fail, commit: fail, receive: fail, handOff: fail, handOffEnded: fail, dead: fail };

/** What throws late, after the receiver relies on it. */
const LATE: TelemetryHooks = {
  ...BROKEN,
  receive: () => ({ traceParent: null, end: fail }),
  commit: () => fail,
  handOff(_event, _attempt, call) {
    void call();
    void call();
    fail();
  },
};

const reject = (): unknown => Promise.reject(new Error("the SDK is broken"));

/** Hooks that return `void` may be `async`. */
const ASYNC = hooksOf(reject);

const TELEMETRIES: readonly [string, Telemetry][] = [
  ["when the receiver is made", { observe: fail }],
  ["at once", { observe: () => BROKEN }],
  ["late", { observe: () => LATE }],
  ["in async hooks", { observe: () => ASYNC }],
];

test.each(TELEMETRIES)(
  "a telemetry that throws %s is logged, and has no effect on deliveries and hand-offs",
  async (_when, telemetry) => {
    const { logger, lines } = logLines();
    const rig = await startRig({ telemetry, logger, handoff: { maxAttempts: 2, backoff: () => 0 } });
    expect(await rig.receiver.handle(null as never)).toMatchObject({ status: 503 });
    const [first, second] = await rig.begin(2);
    rig.calls[0]?.resolve();
    rig.calls[1]?.reject();
    await until(() => rig.namesSeen().includes("handedOff") && rig.namesSeen().includes("handoffFailed"));
    await rig.clock.advance(1000);
    await until(() => rig.calls.length === 3);
    rig.calls[2]?.reject();
    await until(() => rig.namesSeen().includes("dead"));
    expect(await rig.entry(first.id)).toMatchObject({ state: "done", attempts: 1 });
    expect(await rig.entry(second?.id ?? "")).toMatchObject({ state: "dead", attempts: 2 });
    await rig.receiver.close();
    expect(rig.receiver.health().state).toBe("closed");
    const logged = lines.filter((line) => line.includes("telemetry failed"));
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.length).toBeLessThanOrEqual(2);
    for (const line of logged) expect(line).toMatch(/"level":40.*the SDK is broken/);
  },
);

const noop = (): void => {};

const QUIET = hooksOf(noop);

test("the failure of a callback is no failure of the hook that returns its promise", async () => {
  const { logger, lines } = logLines();
  const hooks: TelemetryHooks = { ...QUIET, handOff: (_event, _attempt, call): unknown => call() };
  const onSignal = (): Promise<void> => Promise.reject(new Error("no queue"));
  const rig = await startRig({ telemetry: { observe: () => hooks }, logger, onSignal });
  await rig.deliver();
  await until(() => rig.namesSeen().includes("handoffFailed"));
  expect(lines.join("")).not.toContain("telemetry failed");
});

const SOUND = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

test("only a traceparent of the right size is kept with the event", async () => {
  const given: unknown[] = [SOUND, `${SOUND}-`, 5, undefined];
  const kept: unknown[] = [];
  const hooks: TelemetryHooks = {
    ...QUIET,
    receive: () => ({ traceParent: given[kept.length] as string, end: noop }),
    handOff: (event) => void kept.push(event.traceParent ?? null),
  };
  const rig = await startRig({ telemetry: { observe: () => hooks } });
  for (const _ of given) await rig.begin(1);
  expect(kept).toEqual([SOUND, null, null, null]);
});
