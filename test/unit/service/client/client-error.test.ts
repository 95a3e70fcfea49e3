import { expect, test } from "vitest";
import {
  ClientError,
  isClientError,
  isSignalboxError,
  SignalboxError,
} from "../../../../src/service/client/index.js";

test("an error names its operation, and an unknown field is null", () => {
  const error = new ClientError("rankings failed.", {
    kind: "http",
    operation: "rankings",
    help: "Fix it.",
  });
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toBe("rankings failed. Fix it.");
  expect(error).toMatchObject({
    name: "ClientError",
    kind: "http",
    status: null,
    resetAt: null,
    quota: null,
  });
  expect("cause" in error).toBe(false);
});

test("the guard knows the errors of the client, also of another copy of it, and no others", () => {
  const own = new ClientError("x", { kind: "http", operation: "rankings", help: "" });
  const ofAnotherCopy = Object.assign(new Error("x"), {
    [Symbol.for("signalbox.client_error")]: true,
    kind: "rate",
  });
  expect([own, ofAnotherCopy].map(isClientError)).toEqual([true, true]);
  const others = [
    new Error("x"),
    new SignalboxError("option_invalid", "", ""),
    { kind: "http" },
    null,
    undefined,
    0,
  ];
  expect(others.some(isClientError)).toBe(false);
  // Its codes are the service's, not ours.
  expect(isSignalboxError(own)).toBe(false);
});
