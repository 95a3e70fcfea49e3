import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmulator, type RunningEmulator } from "../../emulator/start-emulator.js";
import { serveEndpoint } from "../../unit/service/emulator/webhooks/webhook-world.js";
import { callCli, callEach } from "../call-cli.js";
import { expectGolden } from "../golden.js";
import { ndjson, type CliRun } from "../run-cli.js";
import { listen } from "../serve-requests.js";

let running: RunningEmulator;
beforeAll(async () => {
  running = await openEmulator({
    accounts: [
      { name: "First", tier: "pro", key: "sbk_the_key_of_these_tests" },
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
  expect(await ask("publish", "price_increased")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("npx signalbox emulator follow --top 25"),
  });
  const followed = await values("follow", "--top", "5");
  expect(followed).toHaveLength(5);
  const ranked = await running.ask("/research/rankings?sort=traffic&limit=5", {
    key: "sbk_the_key_of_these_tests",
  });
  const slugs = (ranked.body["items"] as { slug: string }[]).map(({ slug }) => slug);
  expect(new Set(followed.map(({ slug }) => slug))).toEqual(new Set(slugs));

  const { url } = await serveEndpoint((_request, response) => void response.end("\u001b[2Jseen"));
  await running.ask("/alerts/webhooks", {
    key: "sbk_the_key_of_these_tests",
    body: { url, signal_types: ["price_increased", "new_model"] },
  });
  await running.emulator.control.settle();
  const published = await values("publish", "price_increased", "new_model");
  expect(published).toMatchObject([
    { signal_type: "price_increased", registrations: 1 },
    { signal_type: "new_model", registrations: 1 },
  ]);
  expect((await ask("publish", "api_added")).stdout).toMatch(
    /api_added \S+: no follower has an active registration/,
  );
  expect(await values("advance", "--minutes", "60")).toMatchObject([
    { deliveries: { waiting: 0 } },
  ]);

  const [last, , verification] = await values("deliveries");
  expect(last).toMatchObject({ event_id: published[1]?.["event_id"], state: "delivered" });
  expect(verification).toMatchObject({ event_type: "webhook.verification" });
  expect((await ask("deliveries")).stdout).toMatch(
    /^\d+ {2}delivered {2}200 in \d+ ms +new_model \S+$/m,
  );
  const { stdout } = await ask("deliveries", String(last?.["delivery_id"]));
  const onTerminal = await callCli(["emulator", "deliveries", String(last?.["delivery_id"])], {
    env: at(running.emulator.baseUrl),
    columns: 60,
  });
  expect(stdout).toContain(String(published[1]?.["event_id"]));
  expect(stdout).toContain("\\u001b[2Jseen");
  expect(stdout + JSON.stringify(await values("deliveries"))).not.toContain("v1=");
  expect(onTerminal.lines.at(-1)).toBe(stdout.trimEnd().split("\n").at(-1));
  expect(JSON.parse(onTerminal.lines.at(-1) ?? "")).toMatchObject({
    id: published[1]?.["event_id"],
  });
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
  const lines = mistakes.map((line) => ["emulator", ...line.split(" ")]);
  await expectGolden(
    "emulator-mistakes",
    await callEach(lines, { env: at(running.emulator.baseUrl) }),
  );
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
  await expectGolden("emulator-unreachable", { exitCode: 3, stdout: said, stderr: "", lines: [] });
  expect((await deliveries(closed.emulator.url, TOKEN)).exitCode).toBe(0);
  await Promise.all([open.emulator.close(), closed.emulator.close()]);
});
