import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmulator, type RunningEmulator } from "../../emulator/start-emulator.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { callCli } from "../call-cli.js";
import { expectGolden, transcriptOf } from "../golden.js";
import { ndjson, type CliRun } from "../run-cli.js";
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

const ask = (...words: string[]): Promise<CliRun> =>
  callCli(["emulator", ...words], { env: at(running.emulator.baseUrl) });

/** @returns the values that were printed as NDJSON */
async function values(...words: string[]): Promise<Record<string, unknown>[]> {
  const run = await ask(...words, "--json");
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  return ndjson(run);
}

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
  const [slug = ""] = (await values("follow", "--top", "1")).map((each) => String(each["slug"]));
  expect(ndjson(await ask("--json", "follow"))).toEqual(await values("follow"));
  for (const account of ["2", "Second"])
    expect(await values("follow", "--account", account)).toEqual([]);
  expect((await values("follow", slug, "--account", "Second")).map((each) => each["slug"])).toEqual(
    [slug],
  );
});

test("a mistake says what is wrong", async () => {
  const mistakes = [
    "advance",
    "publish new_modl",
    "publish new_model --product no-such",
    "deliveries x",
    "deliveries 999",
    "follow --account 9",
    "advance new",
    "folow",
  ];
  const env = at(running.emulator.baseUrl);
  const scenes = mistakes.map((line) => ({ args: ["emulator", ...line.split(" ")], env }));
  await expectGolden("emulator-mistakes", await transcriptOf(scenes));
});

test("without an emulator the error says how to start one, and with a control token how to give it", async () => {
  const deliveries = (SIGNALS_BASE_URL: string, token = ""): Promise<CliRun> =>
    callCli(["emulator", "deliveries"], {
      env: { SIGNALS_BASE_URL, SIGNALS_CONTROL_TOKEN: token },
    });
  const [open, closed] = [await openEmulator(), await openEmulator({ controlToken: TOKEN })];
  const others = await Promise.all(
    ["<html>", '{"error":"not found"}', '{"hello":1}', "null"].map((answer) =>
      listen((_request, response) => {
        response.writeHead(answer.includes("error") ? 404 : 200).end(answer);
      }),
    ),
  );
  // The last two may be the real service.
  const addresses = ["http://127.0.0.1:1", ...others, "localhost:4777", "https://api.example/v1"];
  const runs = await Promise.all([
    ...addresses.map((each) => deliveries(each)),
    deliveries(open.emulator.url, TOKEN),
    deliveries(closed.emulator.url),
  ]);
  const said = runs.map(({ exitCode, stderr }) => `${exitCode} ${stderr}`).join("");
  await expectGolden("emulator-unreachable", said);
  expect((await deliveries(closed.emulator.url, TOKEN)).exitCode).toBe(0);
  await Promise.all([open.emulator.close(), closed.emulator.close()]);
});
