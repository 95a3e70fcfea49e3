import { expect, test } from "vitest";
import {
  createReceiver,
  type SecretsOption,
  type SecretSource,
} from "../../../../../src/kit/index.js";
import { createSecrets } from "../../../../../src/kit/receiver/secrets/secrets.js";
import { signals } from "../../../../../src/kit/senders/signals/signals.js";
import { memoryStore } from "../../../../../src/kit/stores/memory.js";
import { signalEvent } from "../../../../../src/kit/testing/index.js";
import { logLines } from "../../../../http/log-lines.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { SECRET, startRig } from "../../inbox/receiver-rig.js";

const secretsOf = (option: unknown) => createSecrets(option as SecretsOption, signals);

test.each<[SecretsOption, string[]]>([
  ["one", ["one"]],
  [
    ["one", "two"],
    ["one", "two"],
  ],
  [() => ["one", "two"], ["one", "two"]],
  [async () => "one", ["one"]],
])("secrets come from a text, several, a function or a promise: %s", async (source, expected) => {
  expect(await secretsOf(source).lookUp()).toEqual(expected);
});

test("a source of the user's own is asked, announces secrets, and is closed with the receiver", async () => {
  let found = ["whsec_old"];
  let isClosed = false;
  const source: SecretSource = {
    place: "the vault",
    lookUp: async () => found,
    expectsMore: () => found.length === 1,
    close: () => void (isClosed = true),
  };
  const rig = await startRig({ secrets: source });
  const answer = rig.receiver.handle(rig.signed(signalEvent(), "whsec_new"));
  await rig.clock.advance(100);
  found = ["whsec_old", "whsec_new"];
  await rig.clock.advance(100);
  expect((await answer).status).toBe(200);
  await rig.receiver.close({ graceMs: 0 });
  expect(isClosed).toBe(true);
  expect(secretsOf(source).missing().message).toContain("the vault");
});

test("a source is closed with the receiver also when the store cannot be closed", async () => {
  const store = { ...memoryStore(), close: () => Promise.reject(new Error("the disk is gone")) };
  let isClosed = false;
  const secrets = { lookUp: () => "one", close: () => void (isClosed = true) };
  const receiver = createReceiver({ secrets, store, onSignal: () => undefined, logger: false });
  await receiver.start();
  await expect(receiver.close()).rejects.toThrow("the disk is gone");
  expect([isClosed, receiver.health().state]).toEqual([true, "closed"]);
});

test("a function is asked anew each time, and one that answers at once is not waited for", () => {
  let round = 0;
  const { lookUp } = secretsOf(() => `secret_${++round}`);
  expect([lookUp(), lookUp()]).toEqual([["secret_1"], ["secret_2"]]);
});

test.each([[""], [" "], [[]], [undefined], [null]])(
  "a function that gives %j knows no secret yet",
  async (found) => {
    expect(secretsOf(() => found).lookUp()).toEqual([]);
    expect(await secretsOf(async () => found).lookUp()).toEqual([]);
  },
);

test.each([[["one", ""]], [7], [{}], [["one", undefined]]])(
  "a function that gives %j gives no secret",
  async (found) => {
    for (const give of [() => found, async () => found]) {
      const error = await rejectionOf((async () => secretsOf(give).lookUp())());
      expect(error.code).toBe("secret_invalid");
      expect(error.message).not.toContain("one,");
    }
  },
);

// An unhandled rejection fails the run by itself.
test("an async expectsMore announces nothing, and its rejection changes nothing", async () => {
  const expectsMore = () => Promise.reject(new Error("the vault is down"));
  expect(secretsOf({ lookUp: () => "one", expectsMore }).expectsMore?.()).toBe(false);
  await new Promise((resume) => setImmediate(resume));
});

test.each([
  ["throws", () => failing()],
  ["rejects", async () => failing()],
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a careless source does
  ["rejects with nothing", () => Promise.reject()],
])("a source that %s gets 503, and a line in the log without what it said", async (_what, fail) => {
  const { logger, lines } = logLines();
  let isBroken = true;
  const secrets = (() => (isBroken ? fail() : SECRET)) as SecretsOption;
  const { receiver, deliver } = await startRig({ secrets, secretWaitMs: 0, logger });
  const event = signalEvent();
  expect(await deliver(event)).toMatchObject({
    status: 503,
    body: expect.stringContaining("secret_unavailable"),
  });
  // Nor does a signature over an empty key get in.
  expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
  expect(lines.filter((line) => line.includes('"code":"secret_unavailable"'))).toHaveLength(1);
  expect(lines.join("")).not.toContain(SECRET);
  isBroken = false;
  expect((await deliver(event)).status).toBe(200);
});

function failing(): never {
  throw new Error(`cannot get ${SECRET}`);
}
