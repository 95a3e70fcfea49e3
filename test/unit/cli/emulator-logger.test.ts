import { expect, test } from "vitest";
import { emulatorLogger } from "../../../src/cli/commands/emulator/emulator-logger.js";
import { createTerminal } from "../../../src/cli/console/terminal.js";
import { Writable } from "node:stream";

const PAUSED = {
  event: "registration_paused",
  registration_id: "wh_1",
  endpoint: "http://127.0.0.1:3000/hook",
  failure_count: 1,
  last: 500,
  ahead_seconds: 0,
};

test("what is paused before the emulator listens is told too, with the path that resumes it", async () => {
  let told = "";
  const out = new Writable({
    write(chunk, _encoding, done) {
      told += String(chunk);
      done();
    },
  });
  let url: string | null = null;
  const terminal = createTerminal(out as never, out as never, {});
  const logger = await emulatorLogger(terminal, { isJson: false, url: () => url });
  logger.warn(PAUSED);
  expect(told).toMatch(/Mend its receiver, then: POST \/_emulator\/registrations\/wh_1\/resume\n$/);
  url = "http://127.0.0.1:4010";
  logger.warn(PAUSED);
  expect(told).toMatch(
    /then: curl -X POST \S*http:\/\/127\.0\.0\.1:4010\/_emulator\/registrations\/wh_1\/resume\S*\n$/,
  );
});
