import { expect, test } from "vitest";
import { signBody } from "../../src/index.js";
import { createManualClock, signalEvent } from "../../src/testing/index.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { SECRET, serve, STACKS } from "./serve.js";
import { openWire, rawRequest } from "./wire.js";

const NAME = "X-Service-Signature";
const NOW_SECONDS = 1_790_000_000;

/** A receiver whose clock stands at {@link NOW_SECONDS}, to the millisecond given. */
async function serveAt(milliseconds: number, stack: (typeof STACKS)[number]) {
  return serve({ clock: createManualClock(NOW_SECONDS * 1000 + milliseconds) }, stack);
}

const freshBody = (): string => JSON.stringify(signalEvent());
const sign = (body: string, timestamp = NOW_SECONDS): string => signBody({ body, secret: SECRET, timestamp });

test.for(STACKS)(
  "a header line in any other form is malformed and the connection goes on, over $name",
  async (stack) => {
    const { receiver, port } = await serveAt(0, stack);
    const body = freshBody();
    const right = sign(body);
    // The forms that HTTP itself could change; the others are a table of the parser's own test.
    const forms: readonly (readonly string[])[] = [
      [""],
      [right, right],
      [right, "t=1,v1=2"],
      [right.replace(",", ", ")],
    ];
    const wire = await openWire(port);
    for (const lines of forms) {
      await wire.write(rawRequest({ headers: lines.map((line) => [NAME, line] as const), body }));
      expectRefused(await wire.next(), 401, "signature_malformed");
    }
    // The same bytes with the header as it should be: nothing else was wrong. Blanks around a value are HTTP's own.
    await wire.write(rawRequest({ headers: [[NAME.toUpperCase(), `  ${right}  `]], body }));
    expectAcknowledged(await wire.next(), RECEIVED);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 1 });
  },
);
