import { expect, test } from "vitest";
import { isSignalboxError, PermanentFailure, RetryLater, SignalboxError } from "../../src/index.js";

test("an error carries its code, its help as the last sentence, and its cause", () => {
  const cause = new Error("below");
  const error = new SignalboxError("store_failed", "It failed.", "Mend it.", { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "SignalboxError", code: "store_failed", help: "Mend it.", cause });
  expect(error.message).toBe("It failed. Mend it.");
});

test("the guard knows the errors of the package, also of another copy of it, and no others", () => {
  const ofAnotherCopy = Object.assign(new Error("x"), { [Symbol.for("signalbox.error")]: true, code: "retry_later" });
  const ours = [new SignalboxError("store_failed", "", ""), new PermanentFailure(), new RetryLater(), ofAnotherCopy];
  expect(ours.map(isSignalboxError)).toEqual([true, true, true, true]);
  const others = [new Error("x"), { code: "store_failed" }, null, undefined, "store_failed", 0];
  expect(others.some(isSignalboxError)).toBe(false);
});

test("what a callback throws to say more has a name, a code and a cause of its own", () => {
  const cause = new Error("below");
  expect(new PermanentFailure("no tenant", { cause })).toMatchObject({
    name: "PermanentFailure",
    code: "permanent_failure",
    message: "no tenant",
    cause,
  });
  expect(new RetryLater("paused", { delayMs: 5, cause })).toMatchObject({
    name: "RetryLater",
    code: "retry_later",
    message: "paused",
    delayMs: 5,
    cause,
  });
});
