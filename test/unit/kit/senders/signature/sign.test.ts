import { expect, test } from "vitest";
import { signBody, SIGNATURE_HEADER } from "../../../../../src/kit/index.js";
import { errorOf } from "../../../signalbox-error-of.js";

test("the header has the name that the service gives it", () => {
  expect(SIGNATURE_HEADER).toBe("X-Service-Signature");
});

test("a window into a larger buffer is signed as the window alone", () => {
  const all = Buffer.from("..body..");
  const input = { secret: "s", timestamp: 1 };
  expect(signBody({ ...input, body: all.subarray(2, 6) })).toBe(
    signBody({ ...input, body: "body" }),
  );
});

test("the time is now in whole seconds when it is left out", () => {
  const before = Math.floor(Date.now() / 1000);
  const [, t] = /^t=(\d+),/.exec(signBody({ body: "", secret: "s" })) ?? [];
  expect(Number(t)).toBeGreaterThanOrEqual(before);
  expect(Number(t)).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
});

test.each([
  ["milliseconds", 1_795_255_200_000],
  ["a fraction", 1.5],
  ["a negative number", -1],
  ["infinity", Infinity],
])("%s is refused as a timestamp", (_name, timestamp) => {
  const error = errorOf(() => signBody({ body: "", secret: "s3cret-of-mine", timestamp }));
  expect(error.code).toBe("timestamp_invalid");
  expect(error.help).not.toBe("");
  expect(error.message).toContain(error.help);
  expect(error.message).toContain(String(timestamp));
  expect(error.message).not.toContain("s3cret-of-mine");
});

test.each([[""], [" \t\n"], [undefined], [["s3cret"]]])("the secret %j is refused", (secret) => {
  const error = errorOf(() => signBody({ body: "", secret: secret as string }));
  expect(error.code).toBe("secret_invalid");
  expect(error.help).not.toBe("");
  expect(error.message).not.toContain("s3cret");
});

test.each([[undefined], [null], ["text"], [{}]])(
  "a call with %j in place of its input is refused",
  (input) => {
    expect(errorOf(() => signBody(input as never)).code).toBe("secret_invalid");
  },
);

test.each([[undefined], [null], [{ id: "evt_1" }], [[123, 125]], [7]])(
  "the body %j is refused",
  (body) => {
    const error = errorOf(() => signBody({ body: body as never, secret: "s3cret" }));
    expect(error.code).toBe("option_invalid");
    expect(error.message).toContain("signBody");
  },
);
