import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { expectCases } from "./play-cases.js";

const FOLDER = join(import.meta.dirname, "golden");

// Each case is a client against a service that answers as the case says. Of every error it is
// held, too, that the API key is in no part of it.
test.each(readdirSync(FOLDER))("a client against given answers: %s", async (name) => {
  await expectCases(join(FOLDER, name));
});
