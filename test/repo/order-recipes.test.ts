import ts from "typescript";
import { expect, test } from "vitest";
import type { Handoff, SenderReceiverOptions } from "../../src/kit/index.js";
import { github, stripe } from "../../src/kit/senders/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { testReceiver } from "../../src/kit/testing/index.js";
import { readDocument } from "./markdown.js";

type Events = Record<string, object>;
type Options = SenderReceiverOptions<Events>;

const { blocks } = readDocument("docs/order.md");

/** The options that the recipe with this text gives `createReceiver`. */
function optionsOf(text: string): Options {
  const { code = "" } = blocks.find((block) => block.code.includes(text)) ?? {};
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  const body = outputText.replace(/^import .*$/gm, "").replace("export const receiver =", "return");
  const known = { createReceiver: (options: Options) => options, sqliteStore: () => memoryStore() };
  const given = { ...known, stripe, github, save: () => undefined };
  // oxlint-disable-next-line typescript/no-implied-eval -- the code of our own document
  const run = new Function(...Object.keys(given), body) as (...values: unknown[]) => Options;
  return run(...Object.values(given));
}

test("the recipe for Stripe hands the events of a subscription's customer off one after another", async () => {
  const { sender, order } = optionsOf("stripe<Stripe.Event>()");
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const { deliver, receiver } = await testReceiver({
    sender,
    order,
    onEvent: async (event) => {
      begun.push((event as { id: string }).id);
      await new Promise<void>((resolve) => ends.push(resolve));
    },
  });
  for (const [id, customer] of [
    ["evt_1", "cus_1"],
    ["evt_2", "cus_1"],
    ["evt_3", "cus_2"],
  ]) {
    const object = { id: `sub_${customer}`, object: "subscription", customer };
    await deliver({ id, type: "customer.subscription.updated", data: { object } });
  }
  await expect.poll(() => begun).toEqual(["evt_1", "evt_3"]);
  expect(await receiver.inbox.get("evt_2")).toMatchObject({ waitsBehind: "evt_1" });
  ends[0]?.();
  await expect.poll(() => begun).toEqual(["evt_1", "evt_3", "evt_2"]);
});

test("the recipe for GitHub hands a burst about a pull request off once, the last update of it", async () => {
  const { sender, order, coalesce } = optionsOf("coalesce");
  const handed: [action: string, earlier: string[]][] = [];
  const { deliver, clock } = await testReceiver({
    sender,
    order,
    coalesce,
    onEvent: async (event: object, { earlier }: Handoff) => {
      const { action } = event as { action: string };
      handed.push([action, earlier.map(({ eventId }) => eventId.split("~")[0] ?? "")]);
    },
  });
  const update = async (id: string, action: string, second: number) =>
    deliver(
      {
        action,
        repository: { full_name: "acme/app" },
        pull_request: { id: 7, updated_at: `2026-11-29T10:00:0${second}Z` },
      },
      { headers: { "x-github-event": "pull_request", "x-github-delivery": id } },
    );
  await update("d-1", "opened", 1);
  await update("d-3", "synchronize", 3);
  await update("d-2", "labeled", 2);
  await clock.advance(2000);
  await expect.poll(() => handed).toEqual([["synchronize", ["d-1", "d-2"]]]);
});
