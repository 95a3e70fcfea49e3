import { expect, test } from "vitest";
import { headerValue } from "../../../../../src/kit/senders/engine/headers.js";

const NAME = "x-service-signature";

test.each([
  [{ [NAME]: "one", "x-service-signaturf": "b", "x-service": "c" }, "one"],
  [{ "X-Service-Signature": "one" }, "one"],
  [{ [NAME]: ["one"] }, "one"],
  // What was sent twice is joined.
  [{ [NAME]: ["one", "two"] }, "one, two"],
  [{ [NAME]: "one", "X-Service-Signature": "two" }, "one, two"],
  [{ "X-Service-Signature": ["one"], [NAME]: ["two"] }, "one, two"],
  [{ [NAME]: "" }, ""],
  [{ [NAME]: undefined }, undefined],
  [Object.create(null) as Record<string, string>, undefined],
])("in %j its value is %j", (headers, value) => {
  expect(headerValue(headers, NAME)).toBe(value);
});
