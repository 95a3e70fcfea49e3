// Takes the pictures of the inbox page and of `dev` for README.md and docs/inbox-page.md, in light
// and dark: of a day of three endpoints, one of them paused. It needs the command `script` of
// util-linux:
//
//   npm run build && node test/toolchain/take-pictures.js
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as launcher } from "playwright-core";
import { inboxPage } from "../../dist/page/inbox/inbox-page.js";
import { busyDay } from "./busy-day.js";

const ESCAPE = String.fromCodePoint(27);
const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));

const APP = `import express from "express";
import { createReceiver, secretFile } from "signalbox";
import { expressHandler } from "signalbox/express";
import { sqliteStore } from "signalbox/stores/sqlite";

let count = 0;
const receiver = createReceiver({
  secrets: secretFile("signals.secret"),
  store: sqliteStore("signals.db"),
  onSignal(signal, handoff) {
    count += 1;
    if (count % 3 === 0) throw new Error("connect ECONNREFUSED 10.0.4.17:5432");
    console.log("signal", handoff.deliveryKey, signal.data.title);
  },
});
await receiver.start();
express().use("/webhooks/signals", expressHandler(receiver)).listen(3000, () => console.log("listening on port 3000"));
`;

const { clock, receivers } = await busyDay();
const server = createServer(inboxPage(receivers, { authorize: "loopback" }));
await new Promise((resume) => server.listen(0, "127.0.0.1", resume));
const url = `http://127.0.0.1:${server.address().port}/`;
const executablePath = await chromium.executablePath();
const browser = await launcher.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const colorScheme of ["light", "dark"]) {
  const viewport = { width: 1180, height: 700 };
  const context = await browser.newContext({ viewport, colorScheme, timezoneId: "UTC" });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole("list", { name: "Failures" }).waitFor();
  await page.getByText("p50, p95 below").waitFor();
  await page.getByText("50 events shown").waitFor();
  await page.screenshot({ path: `${folder}inbox-${colorScheme}.png` });
  await page.goto(`${url}#/?q=state:dead+endpoint:default`);
  await page.getByRole("row").filter({ hasText: "given up" }).first().locator("a").click();
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
  await page.screenshot({ path: `${folder}event-${colorScheme}.png` });
  await context.close();
}
server.closeAllConnections();
server.close();
for (const receiver of receivers) {
  const isClosed = receiver.close({ graceMs: 0 });
  await clock.advance(1000);
  await isClosed;
}

const screen = await runDev();
for (const colorScheme of ["light", "dark"]) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 560 }, colorScheme });
  await page.setContent(terminalPage(screen));
  await page.locator("pre").screenshot({ path: `${folder}dev-${colorScheme}.png` });
  await page.close();
}
await browser.close();

/**
 * What a terminal shows of `dev` with an app whose function fails for one event of three, after a
 * day has passed.
 */
async function runDev() {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const place = mkdtempSync(join(tmpdir(), "signalbox-pictures-"));
  mkdirSync(join(place, "node_modules"));
  symlinkSync(root, join(place, "node_modules/signalbox"));
  symlinkSync(join(root, "node_modules/express"), join(place, "node_modules/express"));
  writeFileSync(join(place, "app.mjs"), APP);
  const command = `stty cols 100 rows 40; node ${join(root, "dist/cli/main.js")} dev -- node app.mjs`;
  const dev = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: place,
    env: { ...process.env, TERM: "xterm-256color" },
  });
  let text = "";
  await new Promise((resolve, reject) => {
    dev.once("error", reject);
    dev.stdout.on("data", (bytes) => {
      const had = text;
      text += String(bytes);
      const isFirst = !had.includes("published") && text.includes("published");
      if (isFirst) setTimeout(() => dev.stdin.write("m"), 500);
      if (text.includes("advanced to")) resolve();
    });
  });
  dev.stdin.write("q");
  await new Promise((resolve) => dev.once("close", resolve));
  rmSync(place, { recursive: true });
  return text;
}

/** The first lines of a terminal as a page. */
function terminalPage(text) {
  const lines = text.replaceAll("\r", "").split("\n").slice(0, 36);
  const classes = { 1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow", 36: "cyan" };
  const html = lines
    .join("\n")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(new RegExp(`${ESCAPE}\\[([\\d;]*)m`, "g"), (_, codes) => {
      const name = classes[codes];
      return name === undefined ? "</span>" : `<span class="${name}">`;
    })
    .replaceAll(new RegExp(`${ESCAPE}\\[[\\d;?]*[a-zA-Z]`, "g"), "");
  return `<style>
    :root { color-scheme: light dark }
    pre { margin: 0; padding: 16px; width: max-content; font: 13px/1.45 "DejaVu Sans Mono", monospace;
      background: light-dark(#f6f8fa, #0d1117); color: light-dark(#1f2328, #e6edf3) }
    .bold { font-weight: 700 } .dim { opacity: 0.65 }
    .red { color: light-dark(#b42318, #ff9a8f) } .green { color: light-dark(#1a6b3a, #7ee2a0) }
    .yellow { color: light-dark(#8a5a00, #f0c060) } .cyan { color: light-dark(#0b6077, #7cd4f0) }
  </style><pre>${html}</pre>`;
}
