import { expect, test } from "vitest";
import { shortLogLine } from "../../../../../src/cli/service/dev/receiver.js";

test.each([
  ["listening on port 3000", "listening on port 3000"],
  ['{"no":"log"}', '{"no":"log"}'],
  ["{ half", "{ half"],
  [
    '{"level":40,"time":1,"pid":7,"hostname":"h","name":"signalbox","endpoint":"default","attempt":2,"err":{"type":"PriceStoreError","message":"connect\\nmore","stack":"at f"},"msg":"a hand-off failed"}',
    "warn: a hand-off failed  PriceStoreError: connect  attempt=2",
  ],
  ['{"level":30,"msg":"\\u001b[2J","id":"x"}', "info: \\u001b[2J  id=x"],
])("%s is shown short", (line, short) => {
  expect(shortLogLine(line)).toBe(short);
});
