import { expect, test } from "vitest";
import type { Handoff } from "../../src/index.js";
import { deliver, serve } from "./serve.js";

const COPIES: { how: string; copy: (handoff: Handoff) => Handoff }[] = [
  { how: "spread", copy: (handoff) => ({ ...handoff }) },
  { how: "by rest", copy: ({ deliveryKey, ...rest }) => ({ deliveryKey, ...rest }) },
  { how: "by Object.create", copy: (handoff) => Object.create(handoff) as Handoff },
  { how: "behind a Proxy", copy: (handoff) => new Proxy(handoff, {}) },
];

test.for(COPIES)("a hand-off $how is still one: its type says that it has a logger and a signal", async ({ copy }) => {
  let copied: unknown;
  const { port, receiver } = await serve({
    onSignal(_signal: unknown, handoff: Handoff) {
      try {
        const { logger, abortSignal } = copy(handoff);
        copied = { logger, abortSignal };
      } catch (error) {
        copied = error;
      }
    },
  });
  const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
  await deliver(port);
  await handedOff;
  expect(copied).toMatchObject({
    logger: { info: expect.any(Function) as unknown },
    abortSignal: expect.any(AbortSignal) as unknown,
  });
});
