import { expect, test } from "vitest";
import { signBody } from "../../../../../src/kit/index.js";
import { errorOf } from "../../../signalbox-error-of.js";

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

const refusal = (input: unknown) => errorOf(() => signBody(input as never));

test.each([1_795_255_200_000, 1.5, -1, Infinity])("%d is refused as a timestamp", (timestamp) => {
  const { code, message } = refusal({ body: "", secret: "s3cret-of-mine", timestamp });
  expect(code).toBe("timestamp_invalid");
  expect(message).toContain(String(timestamp));
  expect(message).not.toContain("s3cret-of-mine");
});

test("what is no secret, no body or no input is refused", () => {
  for (const secret of ["", " \t\n", undefined, ["s3cret"]]) {
    const { code, message } = refusal({ body: "", secret });
    expect(code).toBe("secret_invalid");
    expect(message).not.toContain("s3cret");
  }
  for (const input of [undefined, "text", {}]) expect(refusal(input).code).toBe("secret_invalid");
  for (const body of [undefined, { id: "evt_1" }, [123, 125]])
    expect(refusal({ body, secret: "s3cret" }).message).toContain("signBody");
});
