import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { startApp, typeIn } from "./processes.js";

/** The one block with this in it, as a reader would copy it. */
const block = (holding: string): string => readDocument("docs/start.md").block(holding).code;

const type = (folder: string, command: string, port = 0): Promise<string> =>
  typeIn(folder, command.replace("localhost:3000", `127.0.0.1:${port}`));

/** A folder with the app and its secret, as the page has them made. */
async function prepare(file: string, holding: string, express: string): Promise<string> {
  const folder = install({ express });
  writeFileSync(join(folder, file), block(holding));
  await type(folder, block("> signals.secret"));
  return folder;
}

const VARIANTS = [
  ["import and Express 5", "app.mjs", "import express", "express"],
  ["import and Express 4", "app.mjs", "import express", "express4"],
  ["require() and Express 5", "app.cjs", `require("express")`, "express"],
  ["require() and Express 4", "app.cjs", `require("express")`, "express4"],
] as const;

test.each(VARIANTS)(
  "the quick start does what the page says, with %s",
  async (_, file, holding, express) => {
    const folder = await prepare(file, holding, express);
    const { port, linesWith } = await startApp(folder, ["node", file]);

    // Signed by openssl and sent by curl: sender and receiver have no code in common.
    const deliver = block("openssl");
    const [, fixture = ""] = /^body=(.*)$/m.exec(deliver) ?? [];
    const event = JSON.parse(readFileSync(join(folder, fixture), "utf8")) as {
      id: string;
      data: { title: string };
    };
    const first = await type(folder, deliver, port);
    expect(first).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(first).toMatch(/\r\n\r\n\{"received":true\}$/);
    expect(await linesWith(/^signal /)).toEqual([`signal default/${event.id} ${event.data.title}`]);

    expect(await type(folder, deliver, port)).toMatch(
      /\r\n\r\n\{"received":true,"duplicate":true\}$/,
    );
    const forged = await type(
      folder,
      deliver.replace("whsec_quick_start", "whsec_quick_starT"),
      port,
    );
    expect(forged).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n.*signature_mismatch/s);
  },
);

test("the quick start's second terminal sends a signal with the installed command", async () => {
  const folder = await prepare("app.mjs", "import express", "express");
  const { port, linesWith } = await startApp(folder, ["node", "app.mjs"]);
  expect(await type(folder, block("signalbox send"), port)).toMatch(/^200 .*\{"received":true\}$/m);
  const [shape = ""] = block("Larkvoice").split(" Larkvoice");
  expect((await linesWith(/^signal default\//))[0]).toMatch(
    new RegExp(`^${shape.replaceAll(/\d+/g, "\\d+")} \\S`),
  );
});

test.each([VARIANTS[0], VARIANTS[2]])(
  "a quick start that is started twice says why it ends, with %s",
  async (...row) => {
    const [, file, holding, express] = row;
    const folder = await prepare(file, holding, express);
    await startApp(folder, ["node", file]);
    await expect(
      promisify(execFile)(process.execPath, [file], { cwd: folder }),
    ).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/Another receiver has the inbox \S+ open\. /),
    });
  },
);
