import { expect, test } from "vitest";
import { headerValue } from "../../../../../src/kit/senders/engine/headers.js";

const NAME = "x-service-signature";

test.each([
  ["in lower case", { [NAME]: "one" }],
  ["as the service writes it", { "X-Service-Signature": "one" }],
  ["in capitals", { "X-SERVICE-SIGNATURE": "one" }],
  ["as a list of one", { [NAME]: ["one"] }],
  [
    "beside others",
    { "content-type": "a", [NAME]: "one", "x-service-signaturf": "b", "x-service": "c" },
  ],
])("a header is found %s", (_how, headers) => {
  expect(headerValue(headers, NAME)).toBe("one");
});

test.each([
  ["as a list", { [NAME]: ["one", "two"] }],
  ["in two cases", { [NAME]: "one", "X-Service-Signature": "two" }],
  ["in two cases, as lists", { "X-Service-Signature": ["one"], [NAME]: ["two"] }],
])("a header that was sent twice comes back joined: %s", (_how, headers) => {
  expect(headerValue(headers, NAME)).toBe("one, two");
});

test("a header that is not there is undefined, an empty one is empty", () => {
  expect(headerValue({}, NAME)).toBeUndefined();
  expect(headerValue({ [NAME]: undefined }, NAME)).toBeUndefined();
  expect(headerValue({ [NAME]: "" }, NAME)).toBe("");
  expect(headerValue(Object.create(null) as Record<string, string>, NAME)).toBeUndefined();
});
