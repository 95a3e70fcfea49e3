import { expect, test } from "vitest";
import { readConfig } from "../src/config.js";

const SECRET = "whsec_test";

test("a secret is enough, all else has a default", () => {
  expect(readConfig({ SIGNALS_SECRET: SECRET, PORT: "" })).toMatchObject({
    SIGNALS_SECRET: SECRET,
    PORT: 3000,
    INBOX_PATH: "signals.db",
    LOG_LEVEL: "info",
  });
});

test("every mistake is named, and no value of a secret", () => {
  const read = (): unknown => readConfig({ SIGNALS_SECRET_NEXT: "  ", PORT: "70000", LOG_LEVEL: "loud" });
  expect(read).toThrow(/SIGNALS_SECRET is not set/);
  expect(read).toThrow(/SIGNALS_SECRET_NEXT is blank/);
  expect(read).toThrow(/PORT must be a whole number from 0 to 65535/);
  expect(read).toThrow(/LOG_LEVEL must be one of fatal, error/);
  expect(() => readConfig({ SIGNALS_SECRET: SECRET, PORT: "x" })).not.toThrow(SECRET);
});
