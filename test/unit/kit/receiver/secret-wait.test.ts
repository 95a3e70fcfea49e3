import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  secretFile,
  type DeliveryResponse,
  type ReceiverOptions,
} from "../../../../src/kit/index.js";
import { LOOKUP_EVERY_MS } from "../../../../src/kit/receiver/verify-delivery.js";
import {
  signalEvent,
  signedDelivery,
  verificationEvent,
} from "../../../../src/kit/testing/index.js";
import { tempFolder } from "../../temp-folder.js";
import { startRig } from "../inbox/receiver-rig.js";

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
  /** `settled` is the answer, once there is one. */
  const send = (secret = "whsec_new", event: object = signalEvent(), now = rig.clock.now()) => {
    const { headers, body } = signedDelivery(event, { secret, now });
    const delivery = { settled: null as DeliveryResponse | null, answer: Promise.resolve() };
    delivery.answer = rig.receiver.handle({ method: "POST", headers, body }).then((answer) => {
      delivery.settled = answer;
    });
    return delivery;
  };
  return { ...rig, source, send };
}

const codeOf = (answer: DeliveryResponse | null): string | undefined =>
  answer === null
    ? undefined
    : ((JSON.parse(answer.body) as { error?: { code: string } }).error?.code ?? answer.body);

test("while a source has no secret a delivery waits, and is taken once there is one", async () => {
  const { source, send, clock } = await waitingRig();
  const { challenge } = verificationEvent().data;
  const delivery = send("whsec_new", verificationEvent({ data: { challenge } }));
  await clock.advance(WAIT_MS - 2 * LOOKUP_EVERY_MS);
  expect(delivery.settled).toBeNull();
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(delivery.settled).toMatchObject({ status: 200, body: JSON.stringify({ challenge }) });
  expect(clock.pendingTimers()).toBeLessThan(5);
});

test("the wait is two thirds of the time for an answer unless told otherwise, and 0 is none", async () => {
  const short = await waitingRig({ ackTimeoutMs: 300 });
  const delivery = short.send();
  await short.clock.advance(199);
  expect(delivery.settled).toBeNull();
  await short.clock.advance(1);
  expect(codeOf(delivery.settled)).toBe("secret_unavailable");
  expect(delivery.settled?.headers["Retry-After"]).toBe("5");
  expect(await short.receiver.inbox.stats()).toMatchObject({ total: 0 });

  const none = await waitingRig({ secretWaitMs: 0 });
  const refused = none.send();
  await refused.answer;
  expect(codeOf(refused.settled)).toBe("secret_unavailable");
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
  expect(deliveries.map(({ settled }) => settled?.status)).toEqual(deliveries.map(() => 200));
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
  expect(deliveries.map(({ settled }) => codeOf(settled))).toEqual([
    "secret_unavailable",
    "secret_unavailable",
  ]);
  const late = send();
  await late.answer;
  expect(codeOf(late.settled)).toBe("secret_unavailable");
});

/** A source that answers when the test says so. */
async function slowRig() {
  const answers: ((secret: string | undefined) => void)[] = [];
  const secrets = () => new Promise<string | undefined>((resolve) => answers.push(resolve));
  const rig = await waitingRig({ secrets: secrets as never, ackTimeoutMs: 3000 });
  const answer = async (secret: string | undefined, thenMs: number) => {
    answers.at(-1)?.(secret);
    await rig.clock.advance(thenMs);
  };
  return { ...rig, answers, answer };
}

test("a source that answers slowly is asked again only after its answer", async () => {
  const { send, clock, answers, answer } = await slowRig();
  const delivery = send();
  await clock.advance(0);
  await answer(undefined, 10 * LOOKUP_EVERY_MS);
  expect(answers).toHaveLength(2);
  await answer(undefined, LOOKUP_EVERY_MS);
  expect(answers).toHaveLength(3);
  await answer("whsec_new", 0);
  expect(delivery.settled?.status).toBe(200);
});

test("a source that never answers gets 503 in the time for an answer, and holds up no closing", async () => {
  const { send, clock, receiver } = await slowRig();
  const delivery = send();
  await clock.advance(2999);
  expect(delivery.settled).toBeNull();
  await clock.advance(1);
  expect(codeOf(delivery.settled)).toBe("ack_timeout");
  await receiver.close();
  expect(clock.pendingTimers()).toBe(0);
});

test("a lookup that never ends prolongs no wait, and keeps no later delivery from its secret", async () => {
  const { send, clock, receiver, answers, answer } = await slowRig();
  const delivery = send();
  await clock.advance(0);
  // The next lookup hangs.
  await answer(undefined, LOOKUP_EVERY_MS);
  expect(answers).toHaveLength(2);
  await clock.advance(WAIT_MS);
  expect(codeOf(delivery.settled)).toBe("secret_unavailable");
  const other = send();
  await clock.advance(0);
  await answer(undefined, LOOKUP_EVERY_MS);
  await answer("whsec_new", 0);
  expect(other.settled?.status).toBe(200);
  send();
  await clock.advance(0);
  await answer(undefined, LOOKUP_EVERY_MS);
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
    expect(delivery.settled?.status).toBe(200);
  },
);

test("closing ends the wait at once, and leaves no timer behind", async () => {
  const { send, clock, receiver } = await waitingRig();
  const deliveries = [send(), send()];
  await clock.advance(100);
  await receiver.close({ graceMs: 0 });
  await Promise.all(deliveries.map(({ answer }) => answer));
  expect(deliveries.map(({ settled }) => codeOf(settled))).toEqual(["closing", "closing"]);
  expect(clock.pendingTimers()).toBe(0);
});

test("a signature's age is that at its arrival: waiting makes none stale, and none right", async () => {
  const { source, send, clock } = await waitingRig();
  const seconds = (count: number): number => clock.now() + count * 1000;
  const old = send("whsec_new", signalEvent(), seconds(-300));
  const future = send("whsec_new", signalEvent(), seconds(301));
  await clock.advance(WAIT_MS - 2 * LOOKUP_EVERY_MS);
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codeOf(old.settled)).toBe('{"received":true}');
  expect(codeOf(future.settled)).toBe("timestamp_out_of_tolerance");
});

test("a body that waits is evicted for a newer one", async () => {
  const { source, send, clock } = await waitingRig({ maxQueued: { events: 2 } });
  const deliveries = [send(), send(), send()];
  await clock.advance(LOOKUP_EVERY_MS);
  expect(deliveries.map(({ settled }) => codeOf(settled))).toEqual([
    "overloaded",
    undefined,
    undefined,
  ]);
  source.found = "whsec_new";
  await clock.advance(LOOKUP_EVERY_MS);
  expect(deliveries.map(({ settled }) => settled?.status)).toEqual([503, 200, 200]);
});

test.each([
  ["whsec_old"],
  [["whsec_old", "whsec_older"]],
  [() => "whsec_old"],
  [async () => ["whsec_old"]],
])("where the secrets are known a forged delivery is refused at once: %s", async (secrets) => {
  const { send, clock } = await waitingRig({ secrets });
  const timers = clock.pendingTimers();
  const forged = send();
  await forged.answer;
  expect(codeOf(forged.settled)).toBe("signature_mismatch");
  // That of `ackTimeoutMs`, where a source was waited for.
  expect(clock.pendingTimers() - timers).toBeLessThanOrEqual(1);
});

test("while a second registration is under way a forged delivery is refused, later", async () => {
  const path = join(tempFolder(), "signals.secret");
  const lock = `${path}.lock`;
  const write = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });
  write(path, "whsec_old\n");
  write(lock, "");
  const { send, clock } = await waitingRig({ secrets: secretFile(path) });
  const early = send("whsec_forged");
  await clock.advance(WAIT_MS);
  expect(codeOf(early.settled)).toBe("signature_mismatch");
  const [beside, added] = [send("whsec_forged"), send("whsec_new")];
  await clock.advance(100);
  write(path, "whsec_old\nwhsec_new\n");
  await clock.advance(LOOKUP_EVERY_MS);
  expect([beside.settled, added.settled?.status]).toEqual([null, 200]);
  rmSync(lock);
  await clock.advance(LOOKUP_EVERY_MS);
  expect(codeOf(beside.settled)).toBe("signature_mismatch");
});
