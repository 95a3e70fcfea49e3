import { expect, test } from "vitest";
import { signalEvent, waitForEvent } from "../../../../src/kit/testing/index.js";
import { makeReceiver } from "../../../http/serve.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { until } from "../../until.js";
import { startRig, type Rig } from "../inbox/receiver-rig.js";

/** Delivers a new signal whose callback has begun. */
async function begun(rig: Rig): Promise<string> {
  const [event] = await rig.deliverMany(1);
  await until(() => rig.calls.some(({ signal }) => signal.id === event.id));
  return event.id;
}

test("it resolves with the entry once the event is done, or in the state that is asked for, also if it has not arrived yet", async () => {
  const rig = await startRig();
  const event = signalEvent();
  const waiting = waitForEvent(rig.receiver, event.id);
  await rig.deliver(event);
  await until(() => rig.calls.length === 1);
  rig.calls[0]!.resolve();
  expect(await waiting).toMatchObject({ eventId: event.id, state: "done", attempts: 1 });
  expect(await waitForEvent(rig.receiver, event.id, { timeoutMs: 0 })).toEqual(await waiting);

  const unknown = { ...signalEvent(), type: "signal.retracted" };
  const quarantined = waitForEvent(rig.receiver, unknown.id, { state: "quarantined" });
  await rig.deliver(unknown);
  expect(await quarantined).toMatchObject({ state: "quarantined", lastError: "unknown_type" });
});

test("an event that ended in another state is refused at once, with what the callback threw", async () => {
  const rig = await startRig({ handoff: { maxAttempts: 1 } });
  const id = await begun(rig);
  const failure = rejectionOf(waitForEvent(rig.receiver, id, { timeoutMs: 2 ** 30 }));
  rig.calls[0]!.reject(new TypeError("tenant is undefined"));
  const { code, message } = await failure;
  expect(code).toBe("wait_failed");
  for (const fact of [id, "dead", "1 attempt", "TypeError: tenant is undefined"])
    expect(message).toContain(fact);
  const leased = waitForEvent(rig.receiver, await begun(rig), { state: "quarantined" });
  expect((await rejectionOf(leased)).message).toContain("leased");
});

test("when its time is over it says where the event is, or that none came", async () => {
  const rig = await startRig({ handoff: { backoff: () => 60_000 } });
  const gaveUp = (id: string) => rejectionOf(waitForEvent(rig.receiver, id, { timeoutMs: 1 }));
  expect((await gaveUp("sig_0_0")).message).toMatch(/^No event with the id sig_0_0/);
  const id = await begun(rig);
  expect((await gaveUp(id)).message).toMatch(/is leased .*callback/);
  rig.calls[0]!.reject(new Error("the queue is down"));
  await waitForEvent(rig.receiver, id, { state: "ready" });
  const { code, message } = await gaveUp(id);
  expect(code).toBe("wait_failed");
  const due = new Date(rig.clock.now() + 60_000).toISOString();
  for (const fact of ["ready", "1 attempt", due, "Error: the queue is down"])
    expect(message).toContain(fact);
});

test("a time that is none, and a receiver that is not started, are refused", async () => {
  const refusal = async (options?: { timeoutMs: number }) =>
    (await rejectionOf(waitForEvent(makeReceiver(), "sig_0_0", options))).code;
  expect(await refusal()).toBe("store_failed");
  for (const timeoutMs of [Number.NaN, -1, Infinity])
    expect(await refusal({ timeoutMs })).toBe("option_invalid");
});
