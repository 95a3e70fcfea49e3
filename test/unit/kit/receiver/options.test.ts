import { expect, test } from "vitest";
import { createReceiver, type ReceiverOptions } from "../../../../src/kit/index.js";
import { expressHandler } from "../../../../src/kit/receiver/adapters/express-handler.js";
import { fastifyPlugin } from "../../../../src/kit/receiver/adapters/fastify-plugin.js";
import { fetchHandler } from "../../../../src/kit/receiver/adapters/fetch-handler.js";
import { nodeHandler } from "../../../../src/kit/receiver/adapters/node-handler.js";
import { resolveOptions } from "../../../../src/kit/receiver/options.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { errorOf } from "../../signalbox-error-of.js";

const sound = (): ReceiverOptions => ({
  secrets: "whsec_unit",
  store: memoryStore(),
  onSignal: () => {},
});
const problem = (over: object) => errorOf(() => createReceiver({ ...sound(), ...over }));

test("undefined means absent, at every level", () => {
  const absent = (value: object): object =>
    Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        typeof each === "object" &&
        each !== null &&
        Object.getPrototypeOf(each) === Object.prototype
          ? absent(each)
          : undefined,
      ]),
    );
  const plain = resolveOptions({ ...sound(), logger: false });
  const { endpoint, maxQueued, handoff, retention } = plain;
  const groups = {
    endpoint,
    maxQueued,
    handoff: { ...handoff, backoff: { baseMs: 1 } },
    retention,
  };
  for (const over of [
    absent(groups),
    { handoff: undefined, onTest: undefined, clock: undefined },
  ]) {
    const config = resolveOptions({ ...sound(), logger: false, ...over } as never);
    expect(config).toMatchObject({ endpoint, maxQueued, retention });
    expect({ ...config.handoff, backoff: null }).toEqual({ ...handoff, backoff: null });
    expect(config.handoff.backoff(20)).toBeLessThanOrEqual(6 * 3_600_000);
  }
});

test("a backoff of the user's own is used, a function or bounds, and the rest of its group has its defaults", () => {
  const { handoff } = resolveOptions({
    ...sound(),
    handoff: { backoff: (attempt) => attempt * 7 },
  });
  expect(handoff.backoff(6)).toBe(42);
  const bounded = resolveOptions({ ...sound(), handoff: { backoff: { baseMs: 0 } } });
  expect([bounded.handoff.backoff(6), bounded.handoff.concurrency]).toEqual([0, 16]);
});

test("the user's options are never changed and may be frozen", () => {
  const secrets = Object.freeze(["whsec_one", "whsec_two"]);
  const handoff = Object.freeze({ backoff: Object.freeze({ baseMs: 1 }) });
  const options = Object.freeze({ ...sound(), secrets, handoff, maxQueued: Object.freeze({}) });
  const before = { ...options };
  resolveOptions(options);
  expect(options).toEqual(before);
});

test("secrets that the user changes later change nothing", () => {
  const secrets = ["whsec_one"];
  const config = resolveOptions({ ...sound(), secrets });
  secrets[0] = "";
  expect(config.secrets.lookUp()).toEqual(["whsec_one"]);
});

test.each([
  [{ endpont: 1 }, "endpont", ["endpoint"]],
  [{ handoff: { concurency: 1 } }, "handoff.concurency", ["concurrency"]],
  [
    { somethingElseAltogether: 1 },
    "somethingElseAltogether",
    ["secrets", "store", "onSignal", "retention"],
  ],
])(
  "the unknown option in %j is refused by its whole name, with what was meant, or all",
  (over, name, known) => {
    const { code, message, help } = problem(over);
    expect(code).toBe("option_unknown");
    expect(message).toContain(`"${name}"`);
    expect(help.startsWith("Did you mean")).toBe(known.length === 1);
    for (const each of known) expect(help).toContain(each);
  },
);

test.each([
  ["secret", "secrets", "secrets"],
  ["onSignl", "onSignal", "onSignal"],
])(
  "a required option that is misspelt as %s is told so, not that %s is missing",
  (misspelt, name, meant) => {
    const { [name as "store"]: value, ...rest } = sound();
    const error = errorOf(() => createReceiver({ ...rest, [misspelt]: value } as never));
    expect(error.code).toBe("option_unknown");
    expect(error.help).toContain(`"${meant}"`);
  },
);

test.each([
  ["store", undefined],
  ["store", "signals.db"],
  ["store", { open() {} }],
  ["onSignal", undefined],
  ["onTest", {}],
  ["endpoint", "a/b"],
  ["endpoint", "x".repeat(101)],
  ["toleranceSeconds", 0],
  ["toleranceSeconds", "300"],
  ["bodyLimitBytes", 1.5],
  ["bodyTimeoutMs", 0],
  ["ackTimeoutMs", 2 ** 31],
  ["secretWaitMs", -1],
  ["secretWaitMs", 3000],
  ["maxQueued", 5],
  ["maxQueued.events", 0],
  ["maxQueued.bytes", 262_143],
  ["handoff.concurrency", 2.5],
  ["handoff.timeoutMs", 1000.5],
  ["handoff.maxAttempts", 0],
  ["handoff.backoff", "fast"],
  ["retention.keyDays", 1],
  ["retention.payloadDays", 31],
  ["logger", "info"],
  ["clock", {}],
])("the option %s is refused as %j, by its name", (path, value) => {
  const [group, name] = path.split(".") as [string, string?];
  const error = problem({ [group]: name === undefined ? value : { [name]: value } });
  expect(error).toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining(`"${path}"`) as string,
    help: "docs/receiver.md lists every option.",
  });
});

test("a logger without one of its methods is refused", () => {
  for (const method of ["debug", "info", "warn", "error", "child"]) {
    const logger = { debug() {}, info() {}, warn() {}, error() {}, child() {} };
    expect(problem({ logger: { ...logger, [method]: undefined } }).message).toContain('"logger"');
  }
});

test.each([undefined, null, Promise.resolve(createReceiver({ ...sound(), logger: false }))])(
  "a handler of %j is refused when it is made",
  (receiver) => {
    for (const createHandler of [nodeHandler, expressHandler, fetchHandler, fastifyPlugin]) {
      const error = errorOf(() => createHandler(receiver as never));
      expect([error.code, error.message]).toEqual([
        "option_invalid",
        expect.stringContaining(createHandler.name),
      ]);
    }
  },
);

test("what are no options or no secrets is refused at construction", () => {
  for (const options of [undefined, null, [], "options", () => {}])
    expect(errorOf(() => createReceiver(options as never)).code).toMatch(
      /^(option|secret)_invalid$/,
    );
  for (const secrets of [
    undefined,
    "",
    null,
    [],
    ["whsec_one", ""],
    ["whsec_one", 7],
    Buffer.of(1),
  ])
    expect(problem({ secrets }).code).toBe("secret_invalid");
});

test("no value of an option is repeated in an error", () => {
  for (const over of [
    { secrets: ["whsec_private", ""] },
    { endpoint: "whsec_private!" },
    { store: "whsec_private" },
  ]) {
    expect(problem(over).message).not.toContain("whsec_private");
  }
});
