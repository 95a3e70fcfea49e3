import { expect, test } from "vitest";
import { ClientError, isClientError, isSignalboxError, SignalboxError } from "../../../src/client/index.js";

test("an error says what it is of, and what it does not know is null", () => {
  const error = new ClientError("rankings failed.", { kind: "http", operation: "rankings", help: "Mend it." });
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toBe("rankings failed. Mend it.");
  expect(error).toMatchObject({
    name: "ClientError",
    kind: "http",
    operation: "rankings",
    status: null,
    code: null,
    requestId: null,
    details: undefined,
    attempts: 0,
    retryable: false,
    retryAfterMs: null,
    resetAt: null,
    quota: null,
    idempotencyKey: null,
    help: "Mend it.",
  });
  expect("cause" in error).toBe(false);
  const cause = new Error("below");
  expect(new ClientError("x", { kind: "http", operation: "rankings", help: "", cause })).toMatchObject({
    message: "x",
    cause,
  });
});

test("the guard knows the errors of the client, also of another copy of it, and no others", () => {
  const own = new ClientError("x", { kind: "http", operation: "rankings", help: "" });
  const ofAnotherCopy = Object.assign(new Error("x"), { [Symbol.for("signalbox.client_error")]: true, kind: "rate" });
  expect([own, ofAnotherCopy].map(isClientError)).toEqual([true, true]);
  const hidden = new Proxy(
    {},
    {
      has() {
        throw new Error("do not look");
      },
    },
  );
  const others = [
    new Error("x"),
    new SignalboxError("option_invalid", "", ""),
    { kind: "http" },
    null,
    undefined,
    0,
    hidden,
  ];
  expect(others.some(isClientError)).toBe(false);
  // Its codes are the service's, not ours.
  expect(isSignalboxError(own)).toBe(false);
});
