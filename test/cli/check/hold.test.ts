import { expect, test } from "vitest";
import { sendDelivery } from "../../../src/cli/deliveries/send-delivery.js";
import { listen } from "../serve-requests.js";

test("a delivery that is held arrives but for its last byte, and is complete when it is released", async () => {
  let arrived = 0;
  let isComplete = false;
  let wasHeld = false;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const url = await listen((request, response) => {
    request.on("data", (chunk: Buffer) => {
      arrived += chunk.length;
      if (arrived === 9) {
        // Nothing but the release lets the tenth come.
        wasHeld = !isComplete;
        release();
      }
    });
    request.on("end", () => {
      isComplete = true;
      response.end("done");
    });
  });
  let held = 0;
  const answer = await sendDelivery(
    new URL(url),
    { method: "POST", headers: [], body: Buffer.from("0123456789"), isChunked: false },
    {
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      secrets: [],
      hold: { onHeld: () => void (held += 1), release: released },
    },
  );
  expect(answer).toMatchObject({ kind: "answer", status: 200, body: "done" });
  expect({ arrived, held, wasHeld }).toEqual({ arrived: 10, held: 1, wasHeld: true });
});
