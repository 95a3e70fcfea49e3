import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createHeldBodies } from "../../../../src/kit/receiver/collect-body.js";

/** Beside an inbox in which `room.queued` bytes of 1000 wait for their commit. */
function rig(maxBodies = 100) {
  const room = { queued: 0 };
  const bodies = createHeldBodies({ hasRoom: (bytes) => room.queued + bytes <= 1000, maxBodies });
  const evicted: string[] = [];
  const deliveries = new Map<string, object>();
  const deliveryOf = (name: string): object => {
    const delivery = deliveries.get(name) ?? {};
    deliveries.set(name, delivery);
    return delivery;
  };
  return {
    room,
    evicted,
    makeRoom: bodies.makeRoom,
    hold: (name: string, bytes: number) =>
      bodies.hold(deliveryOf(name), bytes, () => evicted.push(name)),
    release: (name: string) => bodies.release(deliveryOf(name)),
  };
}

test("the oldest are evicted, one that grows keeps its age, and none makes way for one that cannot fit", () => {
  const { hold, makeRoom, room, evicted } = rig();
  for (const name of ["first", "second", "first", "third"]) hold(name, 200);
  expect([hold("fourth", 700), hold("fifth", 100)]).toEqual([true, true]);
  expect(evicted).toEqual(["first", "second"]);
  // The oldest that itself grows past the bound is the one that has no room.
  expect(hold("third", 1)).toBe(false);
  // Queued events are not evicted.
  room.queued = 100;
  expect([hold("sixth", 901), makeRoom(901)]).toEqual([false, false]);
  expect(evicted).toEqual(["first", "second"]);
});

test("whatever happens, what is held stays within the bound, and each that was not let go is still held", () => {
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
    bytes: fc.nat(600),
    act: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { hold, release, makeRoom, evicted } = rig(5);
      const expected = new Map<string, number>();
      const drop = (name: string) => expected.delete(name);
      for (const { name, bytes, act } of steps) {
        evicted.length = 0;
        if (act === 0) {
          release(name);
          drop(name);
        } else if (act === 1) expect(makeRoom(bytes)).toBe(true);
        else if (hold(name, bytes)) expected.set(name, (expected.get(name) ?? 0) + bytes);
        else drop(name);
        // Told once each, and only while held.
        for (const gone of evicted) expect(drop(gone)).toBe(true);
        const sum = [...expected.values()].reduce((all, one) => all + one, act === 1 ? bytes : 0);
        expect(sum).toBeLessThanOrEqual(1000);
        expect(expected.size).toBeLessThanOrEqual(5);
      }
    }),
  );
});
