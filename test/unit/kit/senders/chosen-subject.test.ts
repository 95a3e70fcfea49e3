import { expect, test } from "vitest";
import { readable } from "../../../../src/kit/senders/engine/define-sender.js";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import * as senders from "../../../../src/kit/senders/index.js";
import { SENDERS, type Factory } from "../../../../src/kit/senders/records.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import { tempFolder } from "../../temp-folder.js";
import { signerOf, SIGNERS } from "./independent-signers.js";
import { NOW, startFor } from "./sender-rig.js";

const makers = senders as unknown as Record<Factory, (options: object) => AnySender>;

test.each(SENDERS)("$name stores the subject that its user chooses", ({ name, factory, needs }) => {
  const needed = Object.entries(needs).map(([option, { local }]) => [option, local]);
  const read = (subject: (event: unknown) => unknown) => {
    const sender = makers[factory]({ ...Object.fromEntries(needed), subject });
    const { body, headers = {} } = sender.sample(NOW);
    const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const { secret = "" } = SIGNERS.find((signer) => signer.sender.name === name) ?? {};
    const signed = sender.sign(bytes, { secret, now: NOW, headers });
    return sender.read(readable(bytes, { ...headers, ...signed }));
  };
  let seen: unknown;
  const chosen = read((event) => ((seen = event), "cus_1"));
  expect(chosen).toMatchObject({ kind: "event", subject: "cus_1" });
  expect(chosen).toMatchObject({ event: seen });
  for (const wrong of [5, "", "x".repeat(201), "a b", null, Promise.reject(new Error())])
    expect(read(() => wrong)).toMatchObject({ kind: "event", subject: null });
  const thrown = read(() => {
    throw new Error();
  });
  expect(thrown).toMatchObject({ kind: "event", subject: null });
});

test("a retry that comes after `subject` was chosen is a duplicate", async () => {
  const { secret, sign } = signerOf("shopify");
  const body = Buffer.from('{"customer":{"email":"a@shop.example"}}');
  const store = sqliteStore(`${tempFolder()}/inbox.db`);
  const { headers } = sign({ body, now: NOW, id: "webhook-1" });
  const of = { "x-shopify-topic": "orders/paid", "x-shopify-shop-domain": "a.shop.example" };
  const sent = { headers: { ...of, ...headers }, body };
  const before = await startFor(senders.shopify(), secret, { store });
  expect(await before.send(sent)).toBe("accepted");
  await before.receiver.close({ graceMs: 0 });
  const chosen = senders.shopify({
    subject: ({ customer }) => (customer as { email: string }).email,
  });
  expect(await (await startFor(chosen, secret, { store })).send(sent)).toBe("duplicate");
});

test("with `order: true`, events with the chosen subject are handed off one at a time", async () => {
  const { secret, sign } = signerOf("stripe");
  const started: string[] = [];
  const sender = senders.stripe({ subject: (event) => event.data.object["customer"] });
  const { send, receiver } = await startFor(sender, secret, {
    order: true,
    onEvent: (event) => {
      started.push((event as { id: string }).id);
      return new Promise(() => {});
    },
  });
  for (const [id, customer] of [
    ["evt_1", "cus_1"],
    ["evt_2", "cus_1"],
    ["evt_3", "cus_2"],
  ]) {
    const event = { id, type: "invoice.paid", data: { object: { id: `in_${id}`, customer } } };
    const body = Buffer.from(JSON.stringify(event));
    await send({ ...sign({ body, now: NOW, id: "" }), body });
  }
  await expect.poll(() => started).toEqual(["evt_1", "evt_3"]);
  expect(await receiver.inbox.get("evt_2")).toMatchObject({
    subject: "cus_1",
    waitsBehind: "evt_1",
  });
});
