import { expect, test } from "vitest";
import type { SecretsOption } from "../../src/index.js";
import { signalEvent } from "../../src/testing/index.js";
import { DUPLICATE, expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { logLines } from "./log-lines.js";
import { delivery, SECRET, serve, STACKS } from "./serve.js";
import { exchange } from "./wire.js";

const OLD = "whsec_old";
const NEW = "whsec_new";

function deliverSignedWith(port: number, secret: string, event: object = signalEvent()) {
  return exchange(port, delivery(event, { secret }));
}

test.for([
  { form: "an array", secrets: [OLD, NEW] },
  { form: "a function", secrets: () => [OLD, NEW] },
  { form: "an async function", secrets: async () => [OLD, NEW] },
])("while secrets rotate either one is accepted: $form", async ({ secrets }) => {
  for (const stack of STACKS) {
    const { port } = await serve({ secrets }, stack);
    const event = signalEvent();
    expectAcknowledged(await deliverSignedWith(port, OLD, event), RECEIVED);
    expectAcknowledged(await deliverSignedWith(port, NEW, event), DUPLICATE);
    expectAcknowledged(await deliverSignedWith(port, NEW), RECEIVED);
    expectRefused(await deliverSignedWith(port, "whsec_third"), 401, "signature_mismatch");
  }
});

const FAILING: { what: string; secrets: () => unknown }[] = [
  {
    what: "throws",
    secrets: () => {
      throw new Error(`cannot get ${SECRET}`);
    },
  },
  { what: "rejects", secrets: () => Promise.reject(new Error(`cannot get ${SECRET}`)) },
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a careless source does
  { what: "rejects with nothing", secrets: () => Promise.reject() },
  { what: "gives undefined", secrets: () => undefined },
  { what: "gives null", secrets: () => null },
  { what: "gives an empty string", secrets: () => "" },
  { what: "gives blanks", secrets: async () => " \t\n" },
  { what: "gives no secret", secrets: () => [] },
  { what: "gives one that is empty", secrets: async () => [SECRET, ""] },
  { what: "gives one that is no string", secrets: () => [SECRET, 7] },
  { what: "gives a number", secrets: () => 7 },
  { what: "gives an object", secrets: async () => ({ 0: SECRET, length: 1 }) },
];

test.for(FAILING)("a source that $what gets 503, and a line in the log without what it said", async ({ secrets }) => {
  const { logger, lines } = logLines();
  let isBroken = true;
  const source = (() => (isBroken ? secrets() : SECRET)) as SecretsOption;
  const { receiver, port } = await serve({ secrets: source, secretWaitMs: 0, logger });
  const event = signalEvent();
  expectRefused(await deliverSignedWith(port, SECRET, event), 503, "secret_unavailable");
  // Nor does a signature over an empty key get in.
  expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
  expect(lines.filter((line) => line.includes('"code":"secret_unavailable"'))).toHaveLength(1);
  expect(lines.join("")).not.toContain(SECRET);
  isBroken = false;
  expectAcknowledged(await deliverSignedWith(port, SECRET, event), RECEIVED);
});
