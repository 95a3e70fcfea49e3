import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, start } from "./commands.js";
import { installFast, scaffold } from "./scaffold.js";

test(
  "hono: it has no Express; its types, lint and tests are clean; it starts, answers replay, and ends at SIGTERM",
  { timeout: 10 * 60_000 },
  async () => {
    const project = await scaffold("hono");
    expect(readFileSync(join(project, "package.json"), "utf8")).not.toContain("express");
    await installFast(project);
    expect((await run(project, "npm", ["test"])).stdout).toMatch(/Tests\s+\d+ passed/);
    await run(project, "npm", ["run", "typecheck"]);
    await run(project, "npm", ["run", "lint"]);

    const receiver = start(project, "npm", ["start"], { PORT: "0" });
    const [line = ""] = await receiver.linesWith(/listening on /);
    const [url = ""] = /http:\/\/[^"\s]+/.exec(line) ?? [];
    await run(project, "npm", ["run", "replay", "--", "--url", url]);
    const closed = receiver.linesWith(/receiver closed/);
    await receiver.stop();
    await closed;
  },
);
