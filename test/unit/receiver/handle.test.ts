import { expect, test } from "vitest";
import type { DeliveryRequest } from "../../../src/index.js";
import { signalEvent, signedDelivery } from "../../../src/testing/index.js";
import { SECRET, startRig } from "../inbox/receiver-rig.js";

async function rigWith(over: Parameters<typeof startRig>[0] = {}) {
  const rig = await startRig(over);
  const sound = (
    event: object | Uint8Array = signalEvent(),
    secret = SECRET,
  ): Omit<DeliveryRequest, "headers"> & { headers: Record<string, string>; body: Uint8Array } => ({
    method: "POST",
    ...signedDelivery(event, { secret, now: rig.clock.now() }),
  });
  const codeOf = async (request: DeliveryRequest): Promise<string> => {
    const answer = await rig.receiver.handle(request);
    const { error } = JSON.parse(answer?.body ?? "{}") as { error?: { code: string } };
    return `${answer?.status} ${error?.code ?? ""}`.trim();
  };
  return { ...rig, sound, codeOf };
}

test("the headers that are worth keeping are kept with the event, and no other", async () => {
  const { receiver, sound, entries } = await rigWith();
  const request = sound();
  await receiver.handle({ ...request, headers: { ...request.headers, Cookie: "private", "User-Agent": "sender/1" } });
  const [entry] = await entries();
  expect((await receiver.inbox.get(entry!.eventId))?.received.headers).toEqual({
    "content-type": "application/json",
    "user-agent": "sender/1",
    "x-service-signature": request.headers["X-Service-Signature"],
  });
});

test("a caller may use its buffer again at once: what was verified is stored", async () => {
  const { receiver, sound, entries } = await rigWith();
  const { body, ...request } = sound();
  const buffer = Buffer.from(body);
  const answer = receiver.handle({ ...request, body: buffer });
  buffer.fill("x");
  expect((await answer).status).toBe(200);
  const [entry] = await entries();
  expect(Buffer.from((await receiver.inbox.get(entry!.eventId))!.rawBody!)).toEqual(Buffer.from(body));
});

test("a body can be any view of bytes, of which only those in its bounds are read", async () => {
  const { receiver, sound } = await rigWith();
  const { body, ...request } = sound();
  const { buffer } = new Uint8Array([...Buffer.from("before"), ...body, ...Buffer.from("after")]);
  const view: unknown = new DataView(buffer, 6, body.byteLength);
  expect((await receiver.handle({ ...request, body: view as Uint8Array })).status).toBe(200);
});

test.each([
  ["text", (body: Uint8Array) => Buffer.from(body).toString()],
  ["parsed JSON", (body: Uint8Array) => JSON.parse(Buffer.from(body).toString()) as unknown],
  ["nothing", () => undefined],
])("a body that is %s is no body: the adapter is at fault, not the signature", async (_what, spoil) => {
  const { codeOf, sound } = await rigWith();
  const good = sound();
  expect(await codeOf({ ...good, body: spoil(good.body) as never })).toBe("500 body_unavailable");
});

test("the headers of a Fetch request are understood", async () => {
  const { receiver, sound, entries } = await rigWith();
  const good = sound();
  const headers = new Headers({ ...good.headers, "User-Agent": "sender/1" });
  expect((await receiver.handle({ ...good, headers })).status).toBe(200);
  const [entry] = await entries();
  expect((await receiver.inbox.get(entry!.eventId))?.received.headers).toMatchObject({ "user-agent": "sender/1" });
});

test("the reason for a quarantine names the property that is wrong", async () => {
  const { receiver, sound, entries } = await rigWith();
  const { period: _, ...data } = signalEvent().data;
  await receiver.handle(sound({ ...signalEvent(), data }));
  expect((await entries())[0]).toMatchObject({ state: "quarantined", lastError: "data_invalid: data.period" });
});
