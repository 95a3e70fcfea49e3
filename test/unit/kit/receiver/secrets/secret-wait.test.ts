import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { secretFile, type ReceiverOptions } from "../../../../../src/kit/index.js";
import { LOOKUP_EVERY_MS } from "../../../../../src/kit/receiver/verify-delivery.js";
import { signalEvent, signedDelivery } from "../../../../../src/kit/testing/index.js";
import { tempFolder } from "../../../temp-folder.js";
import { codeOf, startRig } from "../../inbox/receiver-rig.js";

const WAIT_MS = 2000;

/** A receiver whose secrets are what `source.found` is, and how to deliver what a secret signed. */
async function waitingRig(options: Partial<ReceiverOptions> = {}) {
  const source = { found: undefined as unknown, lookups: 0 };
  const secrets = (() => {
    source.lookups += 1;
    if (source.found instanceof Error) throw source.found;
    return source.found;
  }) as ReceiverOptions["secrets"];
  const rig = await startRig({ secrets, ...options });
  /** `code` is that of the answer, once there is one: until then it is "waits". */
  const send = (secret = "whsec_new", ageMs = 0) => {
    const signing = { secret, now: rig.clock.now() - ageMs };
    const request = { method: "POST", ...signedDelivery(signalEvent(), signing) };
    const delivery = { code: "waits", answer: rig.receiver.handle(request) };
    void delivery.answer.then((answer) => (delivery.code = codeOf(answer)));
    return delivery;
  };
  return { ...rig, source, send };
}

const codesOf = (deliveries: readonly { code: string }[]) => deliveries.map(({ code }) => code);
const UNAVAILABLE = "503 secret_unavailable";
const MISMATCH = "401 signature_mismatch";

test("while a source has no secret a delivery waits, and is taken once there is one", async () => {
  const { source, send, clock } = await waitingRig();
  const delivery = send();
  await clock.advance(WAIT_MS - 2 * LOOKUP_EVERY_MS);
  expect(delivery.code).toBe("waits");
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(delivery.code).toBe("200");
  expect(clock.pendingTimers()).toBeLessThan(5);
});

test("the wait is two thirds of the time for an answer unless told otherwise, and 0 is none", async () => {
  const { send, clock, receiver } = await waitingRig({ ackTimeoutMs: 300 });
  const delivery = send();
  await clock.advance(199);
  expect(delivery.code).toBe("waits");
  await clock.advance(1);
  expect(delivery.code).toBe(UNAVAILABLE);
  expect((await delivery.answer).headers["Retry-After"]).toBe("5");
  expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });

  const none = await waitingRig({ secretWaitMs: 0 });
  expect(codeOf(await none.send().answer)).toBe(UNAVAILABLE);
});

test("all waiting deliveries share one lookup", async () => {
  const { source, send, clock } = await waitingRig();
  const deliveries = Array.from({ length: 50 }, () => send());
  await clock.advance(0);
  expect(source.lookups).toBe(50);
  await clock.advance(10 * LOOKUP_EVERY_MS);
  expect(source.lookups).toBe(60);
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(deliveries)).toEqual(Array(50).fill("200"));
  // Nothing waits, so nothing is looked up.
  await clock.advance(10 * LOOKUP_EVERY_MS);
  expect(source.lookups).toBe(61);
});

test("a source that throws is not 'not yet': 503 at once, for all that wait", async () => {
  const { source, send, clock } = await waitingRig();
  const deliveries = [send(), send()];
  await clock.advance(100);
  source.found = new Error("vault is down");
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(deliveries)).toEqual([UNAVAILABLE, UNAVAILABLE]);
  expect(codeOf(await send().answer)).toBe(UNAVAILABLE);
});

/** A source that answers when the test says so, which has been asked once. */
async function slowRig() {
  const answers: ((secret: string | undefined) => void)[] = [];
  const secrets = () => new Promise<string | undefined>((resolve) => answers.push(resolve));
  const rig = await waitingRig({ secrets: secrets as never, ackTimeoutMs: 3000 });
  const send = async () => {
    const delivery = rig.send();
    await rig.clock.advance(0);
    return delivery;
  };
  const answer = async (secret: string | undefined, thenMs = LOOKUP_EVERY_MS) => {
    answers.at(-1)?.(secret);
    await rig.clock.advance(thenMs);
  };
  return { ...rig, send, answers, answer };
}

test("a source that never answers gets 503 in the time for an answer, and holds up no closing", async () => {
  const { send, clock, receiver } = await slowRig();
  const delivery = await send();
  await clock.advance(2999);
  expect(delivery.code).toBe("waits");
  await clock.advance(1);
  expect(delivery.code).toBe("503 ack_timeout");
  await receiver.close();
  expect(clock.pendingTimers()).toBe(0);
});

test("a lookup that never ends prolongs no wait, keeps no later delivery from its secret, and holds up no closing", async () => {
  const { send, clock, receiver, answers, answer } = await slowRig();
  const delivery = await send();
  // The next lookup hangs.
  await answer(undefined);
  expect(answers).toHaveLength(2);
  await clock.advance(WAIT_MS);
  expect(delivery.code).toBe(UNAVAILABLE);
  expect(answers).toHaveLength(2);
  const other = await send();
  await answer(undefined);
  await answer("whsec_new", 0);
  expect(other.code).toBe("200");
  await send();
  await answer(undefined);
  await receiver.close({ graceMs: 0 });
  await clock.advance(0);
  expect(clock.pendingTimers()).toBe(0);
});

test.each([1, 2, 3, 4])(
  "a secret that is stored after call %i of the source is never missed",
  async (storedAfter) => {
    // The writer stores it and removes its announcement in the same moment.
    let calls = 0;
    const isStored = (): boolean => calls > storedAfter;
    const source = {
      expectsMore: () => (calls++, !isStored()),
      lookUp: () => (calls++, isStored() ? ["whsec_old", "whsec_new"] : ["whsec_old"]),
    };
    const { send, clock } = await waitingRig({ secrets: source });
    const delivery = send();
    await clock.advance(3 * LOOKUP_EVERY_MS);
    expect(delivery.code).toBe("200");
  },
);

test("closing ends the wait at once, and leaves no timer behind", async () => {
  const { send, clock, receiver } = await waitingRig();
  const deliveries = [send(), send()];
  await clock.advance(100);
  await receiver.close({ graceMs: 0 });
  await Promise.all(deliveries.map(({ answer }) => answer));
  expect(codesOf(deliveries)).toEqual(["503 closing", "503 closing"]);
  expect(clock.pendingTimers()).toBe(0);
});

test("a signature's age is that at its arrival: waiting makes none stale, and none right", async () => {
  const { source, send, clock } = await waitingRig();
  const deliveries = [send("whsec_new", 300_000), send("whsec_new", -301_000)];
  await clock.advance(WAIT_MS - 2 * LOOKUP_EVERY_MS);
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(deliveries)).toEqual(["200", "401 timestamp_out_of_tolerance"]);
});

test("a body that waits is evicted for a newer one", async () => {
  const { source, send, clock } = await waitingRig({ maxQueued: { events: 2 } });
  const deliveries = [send(), send(), send()];
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(deliveries)).toEqual(["503 overloaded", "waits", "waits"]);
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(deliveries)).toEqual(["503 overloaded", "200", "200"]);
});

test.each([[["whsec_old", "whsec_older"]], [async () => ["whsec_old"]]])(
  "where the secrets are known a forged delivery is refused at once: %s",
  async (secrets) => {
    const { send, clock } = await waitingRig({ secrets });
    const timers = clock.pendingTimers();
    expect(codeOf(await send().answer)).toBe(MISMATCH);
    // That of `ackTimeoutMs`, where a source was waited for.
    expect(clock.pendingTimers() - timers).toBeLessThanOrEqual(1);
  },
);

test("while a second registration is under way a forged delivery is refused, later", async () => {
  const path = join(tempFolder(), "signals.secret");
  const lock = `${path}.lock`;
  const write = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });
  write(path, "whsec_old\n");
  write(lock, "");
  const { send, clock } = await waitingRig({ secrets: secretFile(path) });
  const early = send("whsec_forged");
  await clock.advance(WAIT_MS);
  expect(early.code).toBe(MISMATCH);
  const both = [send("whsec_forged"), send("whsec_new")];
  await clock.advance(100);
  write(path, "whsec_old\nwhsec_new\n");
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(both)).toEqual(["waits", "200"]);
  rmSync(lock);
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codesOf(both)).toEqual([MISMATCH, "200"]);
});
