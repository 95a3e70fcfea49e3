import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { signBody } from "../../src/index.js";
import { createManualClock, signalEvent } from "../../src/testing/index.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { SECRET, serve, STACKS } from "./serve.js";
import { exchange, openWire, rawRequest } from "./wire.js";

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
    const [t = "", v1 = ""] = right.split(",");
    const long = `${NOW_SECONDS}000`;
    const longDigest = createHmac("sha256", SECRET).update(`${long}.${body}`).digest("hex");
    const forms: readonly (readonly string[])[] = [
      [""],
      [right, right],
      [right, "t=1,v1=2"],
      [`${right},${v1}`],
      [`${t},${t},${v1}`],
      [`t=${long},v1=${longDigest}`],
      [`${t},v1=${v1.slice(3).toUpperCase()}`],
      [`${t}, ${v1}`],
      [`${t} ,${v1}`],
      [`${t},v1= ${v1.slice(3)}`],
      [`${v1},${t}`],
      [`${right},`],
      [`${right};`],
      [`${t},v0=${v1.slice(3)},${v1}`],
      [`${t},${v1}00`],
      [`${t},${v1.slice(0, -1)}`],
      [`T=${NOW_SECONDS},${v1}`],
      [`t=+${NOW_SECONDS},${v1}`],
      [`t=,${v1}`],
      [`t=-1,${v1}`],
      [`t=1.5,${v1}`],
      [`t=1e9,${v1}`],
      [v1],
      [t],
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

test.for(STACKS)("a missing header is told from a malformed one, over $name", async (stack) => {
  const { port } = await serveAt(0, stack);
  const body = freshBody();
  const wire = await openWire(port);
  await wire.write(rawRequest({ body }));
  expectRefused(await wire.next(), 401, "signature_missing");
  await wire.write(rawRequest({ headers: [[NAME, sign(body)]], body }));
  expectAcknowledged(await wire.next(), RECEIVED);
});

test.for([0, 999])(
  "300 seconds are accepted in either direction and 301 are not, %i ms into the second",
  async (ms) => {
    for (const stack of STACKS) {
      const { port } = await serveAt(ms, stack);
      for (const offset of [-300, -299, 0, 299, 300]) {
        const body = freshBody();
        const answer = await exchange(port, { headers: { [NAME]: sign(body, NOW_SECONDS + offset) }, body });
        expectAcknowledged(answer, RECEIVED);
      }
      for (const offset of [-301, 301, -86_400, 86_400]) {
        const body = freshBody();
        const answer = await exchange(port, { headers: { [NAME]: sign(body, NOW_SECONDS + offset) }, body });
        expectRefused(answer, 401, "timestamp_out_of_tolerance");
      }
    }
  },
);

test("toleranceSeconds moves the bound", async () => {
  const { port } = await serve({ clock: createManualClock(NOW_SECONDS * 1000), toleranceSeconds: 10 });
  const at = (offset: number) => {
    const body = freshBody();
    return exchange(port, { headers: { [NAME]: sign(body, NOW_SECONDS + offset) }, body });
  };
  expectAcknowledged(await at(-10), RECEIVED);
  expectAcknowledged(await at(10), RECEIVED);
  expectRefused(await at(-11), 401, "timestamp_out_of_tolerance");
  expectRefused(await at(11), 401, "timestamp_out_of_tolerance");
});

test("a stale signature that fits no secret is a mismatch: age is only told of what was really signed", async () => {
  const { port } = await serve({ clock: createManualClock(NOW_SECONDS * 1000) });
  const body = freshBody();
  const header = signBody({ body, secret: "whsec_of_somebody_else", timestamp: NOW_SECONDS - 1000 });
  expectRefused(await exchange(port, { headers: { [NAME]: header }, body }), 401, "signature_mismatch");
});

test("a timestamp with leading zeros is signed as its text", async () => {
  const { port } = await serve({ clock: createManualClock(NOW_SECONDS * 1000) });
  const body = freshBody();
  const text = `00${NOW_SECONDS}`;
  const digest = createHmac("sha256", SECRET).update(`${text}.${body}`).digest("hex");
  expectAcknowledged(await exchange(port, { headers: { [NAME]: `t=${text},v1=${digest}` }, body }), RECEIVED);
});
