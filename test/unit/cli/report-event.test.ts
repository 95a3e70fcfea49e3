import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { reportEvent } from "../../../src/cli/commands/emulator/report-event.js";
import { createTerminal } from "../../../src/cli/console/terminal.js";

const PAUSED = {
  event: "registration_paused",
  registration_id: "wh_1",
  endpoint: "http://127.0.0.1:3000/hook",
  failure_count: 1,
  last: 500,
  ahead_seconds: 0,
} as const;

const CONTROL_URL = "http://127.0.0.1:4010/_emulator";

test.each([
  [null, false, "POST /_emulator/registrations/wh_1/resume"],
  [CONTROL_URL, false, `curl -X POST ${CONTROL_URL}/registrations/wh_1/resume`],
  [CONTROL_URL, true, `curl -H "Authorization: Bearer $TOKEN" -X POST ${CONTROL_URL}/registrations/wh_1/resume`],
])("a pause is printed with the call that ends it: control API %s, token %s", (controlUrl, needsToken, call) => {
  let printed = "";
  const out = new Writable({
    write(chunk, _encoding, done) {
      printed += String(chunk);
      done();
    },
  });
  const terminal = createTerminal(out as never, out as never, {});
  reportEvent(PAUSED, terminal, { isJson: false, controlUrl: () => controlUrl, needsToken });
  expect(printed).toMatch(/^warning: wh_1 .* is paused/);
  expect(printed.endsWith(` ${call}\n`)).toBe(true);
});
