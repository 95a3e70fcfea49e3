import { expect, test } from "vitest";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { codeOf, startRig, type Rig } from "../inbox/receiver-rig.js";

/** What is stored of the only event. */
async function storedBy({ receiver, entries }: Rig) {
  const [entry] = await entries();
  return (await receiver.inbox.get(entry!.eventId))!;
}

test("the headers that are worth keeping are kept with the event, and no other", async () => {
  const rig = await startRig();
  const { headers, ...request } = rig.signed();
  const sent = { ...headers, Cookie: "private", "User-Agent": "sender/1" };
  await rig.receiver.handle({ ...request, headers: sent });
  expect((await storedBy(rig)).received.headers).toEqual({
    "content-type": "application/json",
    "user-agent": "sender/1",
    "x-service-signature": headers["X-Service-Signature"],
  });
});

test("a caller may use its buffer again at once: what was verified is stored", async () => {
  const rig = await startRig();
  const { body, ...request } = rig.signed();
  const buffer = Buffer.from(body);
  const answer = rig.receiver.handle({ ...request, body: buffer });
  buffer.fill("x");
  expect((await answer).status).toBe(200);
  expect(Buffer.from((await storedBy(rig)).rawBody!)).toEqual(body);
});

test("a body can be any view of bytes, of which only those in its bounds are read", async () => {
  const { receiver, signed } = await startRig();
  const { body, ...request } = signed();
  const { buffer } = new Uint8Array([...Buffer.from("before"), ...body, ...Buffer.from("after")]);
  const view: unknown = new DataView(buffer, 6, body.byteLength);
  expect((await receiver.handle({ ...request, body: view as Uint8Array })).status).toBe(200);
});

test("a text as the body stands for its UTF-8", async () => {
  const rig = await startRig({ bodyLimitBytes: 5000 });
  const { body, ...request } = rig.signed(signalEvent({ data: { title: "Zürich" } }));
  const handle = async (text: string) =>
    codeOf(await rig.receiver.handle({ ...request, body: text }));
  expect(await handle(String(body))).toBe("200");
  expect(Buffer.from((await storedBy(rig)).rawBody!)).toEqual(body);
  expect(await handle("ü".repeat(2501))).toBe("413 body_too_large");
});

test("the reason for a quarantine names the property that is wrong", async () => {
  const { receiver, signed, entries } = await startRig();
  const { period: _, ...data } = signalEvent().data;
  await receiver.handle(signed({ ...signalEvent(), data }));
  expect((await entries())[0]).toMatchObject({
    state: "quarantined",
    lastError: "data_invalid: data.period",
  });
});
