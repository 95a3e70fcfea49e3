import { expect, test } from "vitest";
import { expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { delivery, serve, STACKS } from "./serve.js";
import { openWire, rawRequest } from "./wire.js";

const NAME = "X-Service-Signature";

test.for(STACKS)(
  "a header line in any other form is malformed and the connection goes on, over $name",
  async (stack) => {
    const { receiver, port } = await serve({}, stack);
    const { headers, body } = delivery();
    const right = headers[NAME] ?? "";
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
