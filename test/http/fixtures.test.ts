import { expect, test } from "vitest";
import { readFixtureFolder } from "../../src/cli/deliveries/fixture-folder.js";
import { createCaseSender, isAsWanted, sendCases } from "../../src/cli/deliveries/send-cases.js";
import { SECRET, serve, STACKS } from "./serve.js";
import { MOUNT } from "./wire.js";

test.for(STACKS)(
  "every fixture and hostile delivery gets its answer, over $name",
  async (stack) => {
    const { port } = await serve({ onTest: () => undefined }, stack);
    const { events, deliveries } = readFixtureFolder();
    const url = new URL(`http://127.0.0.1:${port}${MOUNT}`);
    const target = {
      url,
      secrets: [SECRET],
      events,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
    };
    const { build, send } = createCaseSender(target, false);
    const failed: string[] = [];
    let answers = 0;
    await sendCases(deliveries.map(build), 4, send, (exchange) => {
      answers += 1;
      if (!isAsWanted(exchange, "exact")) failed.push(exchange.name);
    });
    expect(failed).toEqual([]);
    expect(answers).toBeGreaterThan(deliveries.length);
  },
);
