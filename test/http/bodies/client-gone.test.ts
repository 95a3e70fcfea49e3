import { expect, test } from "vitest";
import { createManualClock, signalEvent } from "../../../src/kit/testing/index.js";
import { DUPLICATE, expectAcknowledged } from "../expect-answer.js";
import { DIFFERENCES } from "../frameworks.js";
import { heldStore } from "../held-store.js";
import { latch } from "../latch.js";
import {
  deliver,
  delivery,
  listen,
  nextEvent,
  roundTrip,
  serve,
  sqliteOnDisk,
  STACKS,
  stacksExcept,
  startReceiver,
} from "../serve.js";
import { headOf, openWire, rawRequest } from "../wire.js";

test.for(STACKS)(
  "a client that leaves before its answer has not cancelled the write, over $name",
  async (stack) => {
    const held = heldStore(sqliteOnDisk());
    const handedOff: unknown[] = [];
    const { receiver, port } = await serve(
      { store: held.store, onSignal: (signal) => handedOff.push(signal) },
      stack,
    );
    for (const leave of ["end", "destroy"] as const) {
      const event = signalEvent();
      held.hold();
      const wire = await openWire(port);
      await wire.write(rawRequest(delivery(event)));
      await held.waits();
      wire[leave]();
      if (leave === "destroy") await wire.closed;
      await roundTrip(port);
      const accepted = nextEvent(receiver, "accepted");
      const done = nextEvent(receiver, "handedOff");
      held.release();
      expect(await accepted).toMatchObject({ eventId: event.id });
      await done;
      expect(handedOff.pop()).toEqual(event);
      expectAcknowledged(await deliver(port, event), DUPLICATE);
    }
  },
);

test.for(stacksExcept(DIFFERENCES.hidesEarlyLeaving))(
  "a client that left before the receiver saw its request is no refusal, over $name",
  async ({ mount }) => {
    const clock = createManualClock();
    const receiver = await startReceiver({ clock });
    const listener = await mount(receiver);
    const timers = clock.pendingTimers();
    for (const headers of [delivery().headers, {}]) {
      const arrived = latch();
      const passedOn = latch();
      const port = await listen((request, response) => {
        arrived.open();
        request.once("close", () => {
          listener(request, response);
          passedOn.open();
        });
        request.once("error", () => undefined);
      });
      const wire = await openWire(port);
      await wire.write(headOf(headers, 100));
      await arrived.opened;
      wire.destroy();
      await passedOn.opened;
      await clock.advance(0);
      expect(clock.pendingTimers()).toBe(timers);
    }
    await clock.advance(20_000);
    expect(receiver.health().deliveries).toMatchObject({ accepted: 0, rejected: 0, shed: 0 });
  },
);
