import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { builtInSender } from "../../../../src/kit/senders/built-in.js";
import { defineSender } from "../../../../src/kit/senders/engine/define-sender.js";
import { SENDER_NAMES } from "../../../../src/kit/senders/records.js";
import { standardWebhooks } from "../../../../src/kit/senders/standard-webhooks.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import {
  createManualClock,
  signalEvent,
  testEvent,
  testReceiver,
  verificationEvent,
  waitForEvent,
  type TestReceiverOptions,
} from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { tempFolder } from "../../temp-folder.js";

const RECEIVED = { status: 200, body: '{"received":true}' };

test("it hands what is delivered to the handler", async () => {
  const onSignal = vi.fn();
  const { deliver, receiver } = await testReceiver({ onSignal });
  const event = signalEvent("price_increased");
  expect(await deliver(event)).toMatchObject(RECEIVED);
  await waitForEvent(receiver, event.id);
  expect(onSignal).toHaveBeenCalledExactlyOnceWith(event, expect.objectContaining({ attempt: 1 }));
});

test("a test event goes to onTest, and a verification is answered", async () => {
  const onTest = vi.fn();
  const { deliver, receiver } = await testReceiver({ onTest });
  const event = testEvent();
  await deliver(event);
  await waitForEvent(receiver, event.id);
  expect(onTest).toHaveBeenCalledExactlyOnceWith(event, expect.anything());
  const verification = verificationEvent();
  const { body } = await deliver(verification);
  expect(JSON.parse(body)).toEqual({ challenge: verification.data.challenge });
});

test("its clock stands still, and moving it brings the retries", async () => {
  const onSignal = vi
    .fn()
    .mockRejectedValueOnce(new Error("the queue is down"))
    .mockRejectedValueOnce(new Error("yet"));
  const { deliver, receiver, clock } = await testReceiver({
    onSignal,
    handoff: { backoff: () => 5000 },
  });
  const event = signalEvent();
  await deliver(event);
  await waitForEvent(receiver, event.id, { state: "ready" });
  await clock.advance(4999);
  expect(onSignal).toHaveBeenCalledTimes(1);
  await clock.advance(1);
  expect(onSignal).toHaveBeenCalledTimes(2);
  await clock.advance(5000);
  expect(await waitForEvent(receiver, event.id)).toMatchObject({ attempts: 3 });
});

test("deliveries are signed by its clock, and otherwise when that is asked for", async () => {
  const clock = createManualClock(1_795_255_200_000);
  const { deliver } = await testReceiver({ clock });
  const event = signalEvent();
  expect(await deliver(event)).toMatchObject(RECEIVED);
  await clock.advance(3_600_000);
  expect(await deliver(event)).toMatchObject({
    status: 200,
    body: '{"received":true,"duplicate":true}',
  });
  const codeOf = ({ body }: { body: string }): unknown =>
    (JSON.parse(body) as { error: { code: unknown } }).error.code;
  expect(codeOf(await deliver(event, { now: clock.now() - 301_000 }))).toBe(
    "timestamp_out_of_tolerance",
  );
  expect(codeOf(await deliver(event, { secret: "whsec_other" }))).toBe("signature_mismatch");
});

test("of several secrets it signs with the first, and takes each", async () => {
  const { deliver, secret } = await testReceiver({ secrets: ["whsec_new", "whsec_old"] });
  expect(secret).toBe("whsec_new");
  expect(await deliver(signalEvent())).toMatchObject(RECEIVED);
  expect(await deliver(signalEvent(), { secret: "whsec_old" })).toMatchObject(RECEIVED);
});

test("it takes the options of createReceiver, a store of the user's among them, and refuses others", async () => {
  const store = sqliteStore(join(tempFolder(), "signals.db"));
  const { deliver, receiver } = await testReceiver({
    store,
    endpoint: "crm",
    bodyLimitBytes: 2000,
  });
  expect((await deliver(" ".repeat(2001))).status).toBe(413);
  const event = signalEvent();
  expect(await deliver(event)).toMatchObject(RECEIVED);
  expect(await waitForEvent(receiver, event.id)).toMatchObject({ state: "done", endpoint: "crm" });
  expect(receiver.health().store.name).toBe("sqlite");
  await receiver.close();
  const misspelt = { onSignl: () => undefined } as TestReceiverOptions;
  expect((await rejectionOf(testReceiver(misspelt))).code).toBe("option_unknown");
  for (const secrets of ["", []])
    expect((await rejectionOf(testReceiver({ secrets }))).code).toBe("secret_invalid");
});

test("disposing of it closes the receiver, and waits for no callback", async () => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const onSignal = (): Promise<never> => {
    begin();
    return new Promise(() => undefined);
  };
  const box = await testReceiver({ onSignal });
  await box.deliver(signalEvent());
  await begun;
  await box[Symbol.asyncDispose]();
  expect(box.receiver.health().state).toBe("closed");
  expect(box.clock.pendingTimers()).toBe(0);
});

test.each(SENDER_NAMES)(
  "without secrets, a receiver of %s takes what deliver signs",
  async (name) => {
    const sender = builtInSender(name)!;
    const { deliver } = await testReceiver({ sender });
    const { body, headers } = sender.sample(Date.now());
    expect(await deliver(body, { headers: { ...headers } })).toMatchObject({ status: 200 });
  },
);

test("for a sender with public keys it makes a pair, of which deliver signs with the private key", async () => {
  const senders = (["ed25519", "ecdsa", "rsa-sha256"] as const).map((digest) =>
    defineSender({
      name: "acme",
      signature: { header: "x-acme", digest },
      read: ({ json }) => json,
    }),
  );
  for (const sender of [...senders, standardWebhooks({ key: "public" })]) {
    const { deliver, receiver, secret } = await testReceiver({ sender });
    expect(secret).toContain("PRIVATE KEY");
    expect(await deliver({ id: "a", type: "b" }, { headers: { "webhook-id": "a" } })).toMatchObject(
      RECEIVED,
    );
    await waitForEvent(receiver, "a");
  }
});

test("given public keys, it needs the private one for each delivery, and takes no private one as its own", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519", {
    publicKeyEncoding: { format: "pem", type: "spki" },
    privateKeyEncoding: { format: "pem", type: "pkcs8" },
  });
  const sender = standardWebhooks({ key: "public" });
  const { deliver } = await testReceiver({ sender, secrets: publicKey });
  const event = { type: "invoice.paid" };
  expect(await deliver(event, { secret: privateKey })).toMatchObject(RECEIVED);
  expect(() => deliver(event)).toThrow(/private key as PEM/);
  const refused = await rejectionOf(testReceiver({ sender, secrets: privateKey }));
  expect(refused.message).toMatch(/expected the public key/);
});
