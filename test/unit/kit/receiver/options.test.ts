import { readFileSync } from "node:fs";
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
  const plain = resolveOptions({ ...sound(), logger: false });
  const absent = (group: object): object =>
    Object.fromEntries(Object.keys(group).map((name) => [name, undefined]));
  const backoff = { baseMs: undefined };
  for (const over of [
    {
      endpoint: undefined,
      maxQueued: absent(plain.maxQueued),
      handoff: { ...absent(plain.handoff), backoff },
      retention: absent(plain.retention),
    },
    { handoff: undefined, onTest: undefined, clock: undefined },
  ]) {
    const config = resolveOptions({ ...sound(), logger: false, ...over } as never);
    const { handoff, maxQueued, endpoint, retention } = plain;
    expect(config).toMatchObject({ endpoint, maxQueued, retention });
    expect({ ...config.handoff, backoff: null }).toEqual({ ...handoff, backoff: null });
    expect(config.handoff.backoff(20)).toBeLessThanOrEqual(6 * 3_600_000);
  }
});

test("of bounds of a backoff and of its group, what is left out has its default", () => {
  const { handoff } = resolveOptions({ ...sound(), handoff: { backoff: { baseMs: 0 } } });
  expect([handoff.backoff(6), handoff.concurrency]).toEqual([0, 16]);
});

test("the user's options are never changed and may be frozen; what changes in them later counts for nothing", () => {
  const secrets = ["whsec_one"];
  const handoff = Object.freeze({ backoff: Object.freeze({ baseMs: 1 }) });
  const options = Object.freeze({ ...sound(), secrets, handoff, maxQueued: Object.freeze({}) });
  const config = resolveOptions(options);
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
  ["secrets", "secret"],
  ["onSignal", "onSignl"],
])("a required %s that is misspelt is told so, not that it is missing", (name, misspelt) => {
  const { [name as "store"]: value, ...rest } = sound();
  const error = errorOf(() => createReceiver({ ...rest, [misspelt]: value } as never));
  expect(error.code).toBe("option_unknown");
  expect(error.help).toContain(`"${name}"`);
});

const REFUSED = Object.entries(
  JSON.parse(readFileSync(new URL("refused-options.json", import.meta.url), "utf8")) as object,
) as [path: string, values: unknown[]][];

test.each([...REFUSED, ["onSignal", [undefined]] as const])(
  "the option %s is refused as each of %j, by its name",
  (path, values) => {
    const [group, name] = path.split(".") as [string, string?];
    for (const value of values)
      expect(problem({ [group]: name === undefined ? value : { [name]: value } })).toMatchObject({
        code: "option_invalid",
        message: expect.stringContaining(`"${path}"`) as string,
        help: "docs/receiver.md of the package lists every option.",
      });
  },
);

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
  for (const secrets of [undefined, "", [], ["whsec_one", ""], ["whsec_one", 7], Buffer.of(1)])
    expect(problem({ secrets }).code).toBe("secret_invalid");
});

test.each([
  { secrets: ["whsec_private", ""] },
  { endpoint: "whsec_private!" },
  { store: "whsec_private" },
])("no value of an option is repeated in an error: %j", (over) => {
  expect(problem(over).message).not.toContain("whsec_private");
});
