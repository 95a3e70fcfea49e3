import ts from "typescript";
import { expect, test } from "vitest";
import type { SenderReceiverOptions } from "../../../../src/kit/index.js";
import { defineSender, shopify, stripe } from "../../../../src/kit/senders/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent, testReceiver } from "../../../../src/kit/testing/index.js";
import { readDocument } from "../../../repo/markdown.js";
import { codeOf } from "../inbox/receiver-rig.js";

const { blocks } = readDocument("docs/tenants.md");

/** Runs the recipe under a heading, with these in place of what it imports or declares. */
function run<Result>(heading: string, scope: object, result: string): Result {
  const { code } = blocks.find((block) => block.heading === heading && block.language === "ts")!;
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ES2023 },
  });
  const script = outputText
    .replaceAll(/^import .*$/gm, "")
    .replaceAll(/^export \{.*$/gm, "")
    .replaceAll(/^export /gm, "");
  // oxlint-disable-next-line typescript/no-implied-eval -- the code of a document
  return Function(
    ...Object.keys(scope),
    `${script}; return ${result}`,
  )(...Object.values(scope)) as Result;
}

type Options = Omit<SenderReceiverOptions<Record<string, object>>, "clock">;

async function receiverOf(heading: string, scope: object) {
  const handedOff: unknown[] = [];
  const log = { log: (...words: unknown[]) => handedOff.push(words) };
  const made = {
    createReceiver: (options: Options) => options,
    sqliteStore: () => memoryStore(),
    console: log,
    ...scope,
  };
  const options = run<Options>(heading, made, "receiver");
  return { handedOff, ...(await testReceiver(options)) };
}

const vault = {
  read: async (name: string) =>
    ({ "shopify/acme": "s-acme", "stripe/acme": "s-acme", "stripe/beta": "s-beta" })[name],
};

test("the recipe for Shopify: each shop has its secret", async () => {
  const { deliver, receiver, handedOff } = await receiverOf("Tenants", { shopify, vault });
  const send = async (shop: string, secret: string) => {
    const headers = {
      "x-shopify-shop-domain": `${shop}.myshopify.com`,
      "x-shopify-webhook-id": "1",
      "x-shopify-topic": "orders/paid",
    };
    return codeOf(await deliver({ id: 1 }, { headers, secret }));
  };
  expect(await send("acme", "s-acme")).toBe("200");
  expect(await send("other", "s-acme")).toBe("404 tenant_unknown");
  await receiver.drain();
  expect(handedOff).toEqual([["acme", "1"]]);
  await receiver.close();
});

test("the recipe for an own sender: a captured order of one customer is none of another", async () => {
  process.env["OWN_SECRET"] = "own";
  const scope = { defineSender };
  const { deliver, receiver, handedOff } = await receiverOf("Where tenants share a secret", scope);
  const send = async (customer: string) => {
    const order = { id: "1", type: "paid", customer: "acme" };
    return codeOf(await deliver(order, { headers: { "x-customer": customer }, secret: "own" }));
  };
  expect(await send("acme")).toBe("200");
  expect(await send("beta")).toBe("401 tenant_mismatch");
  await receiver.drain();
  expect(handedOff).toEqual([["acme", "1"]]);
  await receiver.close();
});

test("the recipe for Stripe Connect: address and secret must agree", async () => {
  const { deliver, receiver, handedOff } = await receiverOf("Stripe Connect", { stripe, vault });
  const send = async (tenant: string, secret: string) => {
    const event = { id: "evt_1", type: "invoice.paid", data: { object: {} } };
    return codeOf(await deliver(event, { url: `/webhooks/stripe/${tenant}`, secret }));
  };
  expect(await send("acme", "s-acme")).toBe("200");
  expect(await send("beta", "s-acme")).toBe("401 signature_mismatch");
  await receiver.drain();
  expect(handedOff).toEqual([["acme", "invoice.paid"]]);
  await receiver.close();
});

test("the lines for a test", async () => {
  const { code } = blocks.find(({ heading }) => heading === "In a test")!;
  const answers: unknown[] = [];
  const scope = {
    signalEvent,
    testReceiver: async (options: object) => {
      const { deliver } = await testReceiver(options);
      return {
        deliver: async (...given: Parameters<typeof deliver>) =>
          answers.push(await deliver(...given)),
      };
    },
  };
  const script = code.replaceAll(/^import .*$/gm, "");
  // oxlint-disable-next-line typescript/no-implied-eval -- the code of a document
  await (Function(
    ...Object.keys(scope),
    `return (async () => {${script}})()`,
  )(...Object.values(scope)) as Promise<void>);
  expect(answers).toMatchObject([{ status: 200 }]);
});
