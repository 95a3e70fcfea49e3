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
  testReceiver,
  waitForEvent,
  type TestReceiverOptions,
} from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { tempFolder } from "../../temp-folder.js";
import { codeOf } from "../inbox/receiver-rig.js";

test("its clock stands still, and moving it brings the retries", async () => {
  const down = () => Promise.reject(new Error("the queue is down"));
  const onSignal = vi.fn().mockImplementationOnce(down).mockImplementationOnce(down);
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

test("it signs by its clock and with its first secret, and otherwise when that is asked for", async () => {
  const clock = createManualClock(1_795_255_200_000);
  const { deliver, secret } = await testReceiver({ clock, secrets: ["whsec_new", "whsec_old"] });
  expect(secret).toBe("whsec_new");
  await clock.advance(3_600_000);
  for (const [options, answer] of [
    [{}, "200"],
    [{ secret: "whsec_old" }, "200"],
    [{ now: clock.now() - 301_000 }, "401 timestamp_out_of_tolerance"],
    [{ secret: "whsec_other" }, "401 signature_mismatch"],
  ] as const)
    expect(codeOf(await deliver(signalEvent(), options))).toBe(answer);
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
  await deliver(event);
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

const OF_KEYS = [
  ...(["ed25519", "ecdsa", "rsa-sha256"] as const).map((digest) =>
    defineSender({
      name: "acme",
      signature: { header: "x-acme", digest },
      read: ({ json }) => json,
      sample: () => ({ body: { id: "a", type: "b" } }),
    }),
  ),
  standardWebhooks({ key: "public" }),
];

test.each([...SENDER_NAMES.map((name) => builtInSender(name)!), ...OF_KEYS])(
  "without secrets, a receiver of $name makes what it needs, and takes what deliver signs",
  async (sender) => {
    const { deliver, receiver, secret } = await testReceiver({ sender });
    expect(secret.includes("PRIVATE KEY")).toBe(OF_KEYS.includes(sender as (typeof OF_KEYS)[0]));
    const { body, headers = {} } = sender.sample(Date.now());
    expect((await deliver(body, { headers })).status).toBe(200);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 1, quarantined: 0 });
  },
);

test("given public keys, it needs the private one for each delivery, and takes no private one as its own", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519", {
    publicKeyEncoding: { format: "pem", type: "spki" },
    privateKeyEncoding: { format: "pem", type: "pkcs8" },
  });
  const sender = standardWebhooks({ key: "public" });
  const { deliver } = await testReceiver({ sender, secrets: publicKey });
  const event = { type: "invoice.paid" };
  expect((await deliver(event, { secret: privateKey })).status).toBe(200);
  expect(() => deliver(event)).toThrow(/private key as PEM/);
  const refused = await rejectionOf(testReceiver({ sender, secrets: privateKey }));
  expect(refused.message).toMatch(/expected the public key/);
});
