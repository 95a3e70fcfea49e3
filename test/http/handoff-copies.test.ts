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
  const seen = new Promise<Handoff>((resolve, reject) => {
    const onSignal = (_signal: unknown, handoff: Handoff): void => {
      try {
        const { logger, abortSignal } = copy(handoff);
        resolve({ ...handoff, logger, abortSignal });
      } catch (error) {
        reject(error);
      }
    };
    void serve({ onSignal }).then(({ port }) => deliver(port));
  });
  const { logger, abortSignal } = await seen;
  expect(typeof logger?.info).toBe("function");
  expect(abortSignal).toBeInstanceOf(AbortSignal);
});
