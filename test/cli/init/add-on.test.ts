import { realpathSync } from "node:fs";
import { expect, test } from "vitest";
import { expectGolden } from "../golden.js";
import { runCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";
import { casesOf, playInit } from "./play-init.js";

/** How files load each other, what they are of, and what is left of a template. */
const SHOWN =
  /^import|^export|require\(|module\.exports|^(void )?it\(|Store\(|sender: |endpoint: |\{\{|__\w+__/;

test("what it writes and says for each kind of app: files in its language, what to add where, what to type", async () => {
  const text = await playInit(casesOf("add-on-apps.json"), SHOWN);
  expect(text).not.toMatch(/\{\{|__[A-Za-z]+__|(?!\n)\p{Cc}/u);
  await expectGolden("init-add-on", text);
});

test("without DIR it takes the current folder, and asks nothing", async () => {
  const folder = tempFiles({ "package.json": '{"dependencies":{"express":"^5"}}' });
  const run = await runCli(["init", "--template", "add-on", "--json"], { cwd: folder });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(run.stdout)).toMatchObject({ directory: realpathSync(folder) });
});
