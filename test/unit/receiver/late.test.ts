import { expect, test } from "vitest";
import { faultyStore, mediumError } from "../inbox/faulty-store.js";
import { startRig } from "../inbox/receiver-rig.js";
import { turns } from "../until.js";

/** A delivery whose answer was given up while its commit is held. */
async function lateDelivery() {
  const store = faultyStore();
  const rig = await startRig({ store });
  const release = store.hold();
  const answer = rig.deliver();
  await turns();
  await rig.clock.advance(3000);
  expect((await answer).status).toBe(503);
  return { store, rig, release };
}

test("a delivery that is refused as late is not refused a second time when its commit fails", async () => {
  const { store, rig, release } = await lateDelivery();
  store.fail(mediumError());
  release();
  await turns();
  expect(rig.receiver.health().store.failure).toBe("store_failed");
  expect(rig.seen.filter(({ name }) => name === "rejected")).toEqual([
    expect.objectContaining({ code: "ack_timeout", status: 503 }),
  ]);
});
