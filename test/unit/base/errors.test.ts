import { expect, test } from "vitest";
import { describeError } from "../../../src/base/errors.js";
import {
  isSignalboxError,
  PermanentFailure,
  RetryLater,
  SignalboxError,
} from "../../../src/kit/index.js";
import { hostileProxy, throwing } from "../hostile.js";

test("an error carries its code, its help as the last sentence, and its cause", () => {
  const cause = new Error("below");
  expect(new SignalboxError("store_failed", "It failed.", "Mend it.", { cause })).toMatchObject({
    name: "SignalboxError",
    code: "store_failed",
    message: "It failed. Mend it.",
    help: "Mend it.",
    cause,
  });
  // What a callback throws to say more has a name, a code and a cause of its own.
  const failure = {
    name: "PermanentFailure",
    code: "permanent_failure",
    message: "no tenant",
    cause,
  };
  expect(new PermanentFailure("no tenant", { cause })).toMatchObject(failure);
  const later = { name: "RetryLater", code: "retry_later", message: "paused", delayMs: 5, cause };
  expect(new RetryLater("paused", { delayMs: 5, cause })).toMatchObject(later);
});

test("the guard knows the errors of the package, also of another copy of it, and no others", () => {
  const brand = Symbol.for("signalbox.error");
  const ofAnotherCopy = Object.assign(new Error("x"), { [brand]: true, code: "retry_later" });
  const ours = [new SignalboxError("store_failed", "", ""), new PermanentFailure(), ofAnotherCopy];
  expect(ours.every(isSignalboxError)).toBe(true);
  const branded = [
    { [brand]: true, code: 5 },
    { [brand]: 1, code: "retry_later" },
  ];
  const others = [
    new Error("x"),
    { code: "store_failed" },
    null,
    "text",
    hostileProxy(),
    ...branded,
  ];
  expect(others.some(isSignalboxError)).toBe(false);
});

const hostile = Object.defineProperty(new Error("below"), "message", throwing);

test("an error is described by name, message, stack and causes, also if its name was set after it was made", () => {
  const cause = new TypeError("refused", {
    cause: new Error("x".repeat(5000), { cause: "no route" }),
  });
  const text = describeError(new PermanentFailure("no tenant\nof this name", { cause }));
  expect(text).toMatch(/^PermanentFailure: no tenant\nof this name\n +at .*errors\.test\.ts/);
  expect(text).toMatch(
    /\ncaused by TypeError: refused\n +at .*\n(.*\n)*caused by Error: x+…\n +at /,
  );
  expect(text).toContain("\ncaused by no route");
  const both = describeError(new AggregateError([new Error("a"), "b", hostile]));
  expect(both).toMatch(
    /\ncaused by Error: a\n +at [^]*\ncaused by b\ncaused by a value that cannot/,
  );
});

const circular = new Error("circular");
circular.cause = circular;

test.each([
  ["a text", "text", "thrown: text"],
  [
    "a proxy that cannot be looked at",
    new Proxy({}, { getPrototypeOf: throwing.get }),
    "thrown: [object Object]",
  ],
  ["an error whose cause is itself", circular, "Error: circular\n"],
  ["a huge error", new Error("x".repeat(10_000_000)), `Error: ${"x".repeat(993)}…\n`],
  ["an error with a lone surrogate", new Error("a\ud800\0"), "Error: a\ufffd\ufffd\n"],
  [
    "an error that is cut inside a character",
    new Error(`${"x".repeat(992)}🚉`),
    `Error: ${"x".repeat(992)}\ufffd…`,
  ],
  ["an error that cannot be read", hostileProxy(), "thrown: a value that cannot be read"],
  ["an error without a stack", Object.assign(new Error("x"), { stack: undefined }), "Error: x"],
])(
  "whatever is thrown becomes at most 4,000 characters that a store can keep: %s",
  (_what, thrown, start) => {
    const text = describeError(thrown);
    expect(text.startsWith(start)).toBe(true);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(text.isWellFormed()).toBe(true);
  },
);
