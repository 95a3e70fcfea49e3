import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmulator, type RunningEmulator } from "../../emulator/start-emulator.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { callCli } from "../call-cli.js";
import { expectGolden, playGolden, transcriptOf } from "../golden.js";
import { listen } from "../serve-requests.js";

const KEY = "sbk_the_key_of_these_tests";

let running: RunningEmulator;
beforeAll(async () => {
  running = await openEmulator({
    accounts: [
      { name: "First", tier: "pro", key: KEY },
      { name: "Second", tier: "developer", key: "sbk_another_key_of_the_tests" },
    ],
    assumptions: { allowLoopbackHttp: true },
  });
});
afterAll(() => running.emulator.close());

const TOKEN = "token_of_this_test";
const at = (SIGNALS_BASE_URL: string): Record<string, string> => ({ SIGNALS_BASE_URL });

test("from following to a delivery: each command does what its control operation does", async () => {
  const ranked = await running.ask("/research/rankings?sort=traffic&limit=1", { key: KEY });
  const [{ slug } = { slug: "" }] = ranked.body["items"] as { slug: string }[];
  const { url } = await serveEndpoint((_request, response) => void response.end("\u001b[2Jseen"));
  const hook = { url, signal_types: ["price_increased", "new_model"] };
  const lines = [
    ["publish price_increased", "follow --top 5", "follow --top 1 --json"],
    [
      `publish price_increased new_model --product ${slug}`,
      `publish new_model --product ${slug} --json`,
      `publish api_added --product ${slug}`,
    ],
    [
      "advance --minutes 60",
      "advance --minutes 60 --json",
      "deliveries",
      "deliveries 2",
      "deliveries 2 --json",
    ],
  ];
  const options = { env: at(running.emulator.baseUrl) };
  const printed: string[] = [];
  for (const part of lines) {
    const scenes = part.map((line) => ({ args: ["emulator", ...line.split(" ")], ...options }));
    printed.push(await transcriptOf(scenes));
    if (printed.length === 1) await running.ask("/alerts/webhooks", { key: KEY, body: hook });
    await running.emulator.control.settle();
  }
  const text = printed.join("");
  expect(text).not.toContain("v1=");
  await expectGolden("emulator-commands", text, [
    [/\b(wh|evt)_[\da-f-]{36}/g, "$1_UUID"],
    [/"duration_ms":[\d.]+/g, '"duration_ms":N'],
    [/"date":"[^"]+"/g, '"date":"TIME"'],
    [/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "TIME UTC"],
  ]);
  // A narrow terminal breaks rows, but never the body.
  const narrow = await callCli(["emulator", "deliveries", "2"], { ...options, columns: 60 });
  expect(JSON.parse(narrow.lines.at(-1) ?? "")).toMatchObject({ type: "signal.published" });
});

test("an account is chosen by its name or id, and otherwise it is the first one", async () => {
  await playGolden("emulator-accounts", { BASE: running.emulator.baseUrl });
});

test("a mistake says what is wrong", async () => {
  await playGolden("emulator-mistakes", { BASE: running.emulator.baseUrl });
});

test("without an emulator the error says how to start one, and with a control token how to give it", async () => {
  const [open, closed] = [await openEmulator(), await openEmulator({ controlToken: TOKEN })];
  const answering = (answer: string, status = 200): Promise<string> =>
    listen((_request, response) => void response.writeHead(status).end(answer));
  await playGolden("emulator-unreachable", {
    HTML: await answering("<html>"),
    NOT_FOUND: await answering('{"error":"not found"}', 404),
    HELLO: await answering('{"hello":1}'),
    NULL: await answering("null"),
    OPEN: open.emulator.url,
    CLOSED: closed.emulator.url,
    TOKEN,
  });
  await Promise.all([open.emulator.close(), closed.emulator.close()]);
});
