import { execFile } from "node:child_process";
import { promisify, stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { NO_HANDLER } from "../../../src/kit/inbox/done-reasons.js";
import { accept, ENDPOINT, settle } from "../../contract/cases/store-case.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { fill, KINDS, newFile, type Filling, type Place } from "../fill-inbox.js";
import { MAIN, ndjson, type CliRun } from "../run-cli.js";
import { expectStory } from "./story.js";

type Inboxes = Readonly<Record<string, readonly Filling[]>>;

/** Endpoints with these events. No receiver has them open. */
async function staged(place: Place, inboxes: Inboxes): Promise<void> {
  for (const [endpoint, fillings] of Object.entries(inboxes)) await fill(place, fillings, endpoint);
}

/** As if a receiver ran for each endpoint; `reports` are what they say of themselves. */
async function attended(
  place: Place,
  endpoints: readonly string[],
  reports: Readonly<Record<string, object>> = {},
) {
  const store = place.createStore();
  onTestFinished(async () => {
    for (const endpoint of endpoints) await store.close(endpoint);
  });
  for (const endpoint of endpoints) {
    await store.open({ endpoint, clock: systemClock });
    const report = reports[endpoint];
    if (report !== undefined) await store.saveReport(endpoint, "receiver", JSON.stringify(report));
  }
}

const refused = (counts: object, pause: object | null = null, hoursAgo = 0): object => ({
  pause,
  refused: { [(Math.floor(Date.now() / 3_600_000) - hoursAgo) * 3_600_000]: counts },
  examples: [],
});

/**
 * The commands of an output, as a person copies them: with the line ends that the terminal has
 * made.
 */
function commandsIn({ stdout }: CliRun): string[] {
  return [...stripVTControlCharacters(stdout).matchAll(/^ *\$ ((?:.*\\\n)*.*)$/gm)].map(
    ([, command = ""]) => command,
  );
}

/** What `sh` makes of a printed command, given to the command line in this process. */
async function parsed(command: string): Promise<CliRun> {
  const script = `npx() { printf '%s\\0' "$@"; }\n${command}\n`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script]);
  return callCli(stdout.split("\0").slice(1, -1));
}

describe.each(KINDS)("an inbox in $kind:", ({ isThere, newPlace }) => {
  const testHere = testWith(isThere);

  testHere("all well in endpoints of odd names, none of them called default", async () => {
    const place = newPlace();
    await staged(place, {
      stripe: [{ eventId: "evt_1" }, { eventId: "evt_2" }],
      "a.b-c_d": [{ eventId: "evt_3" }],
    });
    await attended(place, ["stripe", "a.b-c_d"]);
    const lines = ["stats DB", "stats DB --json", "ls DB", "prune DB"];
    await expectStory("endpoints", place.args, [
      ...lines.map((line) => `inbox ${line}`),
      "doctor DB",
    ]);
  });

  testHere("stats says how long events took from received to done", async () => {
    const place = newPlace();
    const store = place.createStore();
    await store.open({ endpoint: ENDPOINT, clock: systemClock });
    for (const age of [-60_000, -60_000, 30_000]) {
      const lease = await accept(store, `evt_${Math.random()}`, { state: "leased" });
      await settle(store, lease, { receivedAt: Date.now() - age });
    }
    await store.close(ENDPOINT);
    const { stdout } = await callCli(["inbox", "stats", ...place.args]);
    expect(stdout).toMatch(/^p50 5 ms, p95 1 min from received to done in the last hour$/m);
    const [json] = ndjson(await callCli(["inbox", "stats", ...place.args, "--json"]));
    expect(json).toMatchObject({ p50Ms: 5, p95Ms: 60_000 });
  });

  testHere("what no function of onEvent took is told, and handed off again alone", async () => {
    const place = newPlace();
    const ignored = { sender: "stripe", state: "done", reason: NO_HANDLER } as const;
    await staged(place, {
      stripe: [
        { eventId: "evt_1", type: "invoice.paid", ...ignored },
        { eventId: "evt_2", type: "charge.refunded", ...ignored },
        { eventId: "evt_3", type: "invoice.paid", sender: "stripe" },
      ],
      other: [],
    });
    await attended(place, ["stripe"]);
    const text = "2 ignored in the last 24 hours: onEvent has no function for";
    const stats = await callCli(["inbox", "stats", ...place.args]);
    expect(stats.stdout).toContain(text);
    expect(stats.stdout).toContain("invoice.paid");
    expect((await callCli(["doctor", ...place.args])).stdout.replaceAll(/\s+/g, " ")).toContain(
      text,
    );
    const retry = ["inbox", "retry", ...place.args, "--type", "invoice.paid", "--json"];
    const retried = ndjson(await callCli([...retry, "--state", "ignored"]));
    expect(retried.slice(0, -1).map(({ eventId }) => eventId)).toEqual(["evt_1"]);
    expect(
      (await callCli(["inbox", "discard", ...place.args, "--state", "ignored"])).exitCode,
    ).toBe(2);
  });

  testHere("what fails elsewhere than in default is told first, by every command", async () => {
    const place = newPlace();
    const dead = { state: "dead", reason: "Error: connect 10.0.0.1" } as const;
    await staged(place, {
      default: [{ eventId: "sig_1" }],
      stripe: [
        { eventId: "evt_1", ...dead },
        { eventId: "evt_2", ...dead },
      ],
    });
    await attended(place, ["default", "stripe"]);
    await expectStory("fails-elsewhere", place.args, [
      "inbox stats DB",
      "inbox stats DB --json",
      "inbox stats DB --endpoint default",
      "inbox failures DB",
      "inbox show evt_1 DB",
      "doctor DB",
    ]);
    const { args } = place;
    expect(ndjson(await callCli(["trace", "evt_1", ...args, "--json"]))).not.toEqual([]);
  });

  testHere("an error is matched by the command that is printed, whatever its signs", async () => {
    const reasons = [
      "\u001b[31mError\u001b[39m: \u001b[1;4mInvalid `prisma.user()`\u001b[0m invocation\n\n\u001b[2mtenant\u200b is gone",
      "Error: 50% of \\a_b 'quoted' $(touch x) $HOME !! \u202e…",
      'TypeError: it\'s $(touch x) `id` "q"',
      "--not an option\u0007",
      // Only their ends differ.
      ...["one", "two"].map((end) => `Error: ${"a long way to ".repeat(20)}${end}`),
    ];
    for (const columns of [60, 80]) {
      const place = newPlace();
      await staged(place, {
        gh: reasons.map((reason, index) => ({ eventId: `evt_${index}`, state: "dead", reason })),
      });
      const commands = commandsIn(await callCli(["inbox", "failures", ...place.args], { columns }));
      expect(commands).toHaveLength(reasons.length);
      for (const command of commands) {
        expect(command).not.toMatch(/\\u|--endpoint/);
        expect(await parsed(command), command).toMatchObject({
          exitCode: 0,
          stdout: expect.stringMatching(/^evt_\d {2}(ready again|due now)\n$/),
        });
      }
    }
  });

  testHere("an endpoint or an id that has to be named more exactly", async () => {
    const place = newPlace();
    const twice = { eventId: "evt_1", state: "dead" } as const;
    await staged(place, { a: [twice], stripe: [twice, { eventId: "evt_2", state: "dead" }] });
    await expectStory("more-exactly", place.args, [
      "inbox ls DB --endpoint strpe",
      "inbox discard DB evt_1 --endpoint strpe",
      "doctor DB --endpoint strpe",
      "trace evt_1 DB --endpoint strpe",
      "inbox show DB evt_1",
      "inbox retry DB evt_1",
      "inbox discard DB evt_1",
      "trace evt_1 DB",
      "inbox show DB stripe/evt_1",
      "inbox retry DB a/evt_1 evt_2 --json",
      "inbox retry DB evt_1 --endpoint stripe",
    ]);
  });

  testHere("paused in one endpoint and quarantined in another: the worst is first", async () => {
    const place = newPlace();
    const error = "Error: connect ECONNREFUSED";
    await staged(place, {
      a: [{ eventId: "evt_1", state: "quarantined", reason: "not_json" }],
      b: [{ eventId: "evt_2", state: "failing", reason: error }],
      c: [{ eventId: "evt_3" }],
    });
    const pause = { since: Date.now() - 60_000, error, nextTryAt: Date.now() + 9000 };
    await attended(place, ["a", "b", "c"], { b: refused({}, pause) });
    await expectStory("paused", place.args, [
      "inbox stats DB",
      "inbox stats DB --json",
      "doctor DB",
      "inbox retry DB evt_2",
    ]);
  });

  testHere("refused deliveries are told, also of an endpoint that stored none", async () => {
    const place = newPlace();
    await staged(place, { a: [{ eventId: "evt_1" }] });
    await attended(place, ["a", "b", "c"], {
      b: refused({ signature_mismatch: 11, body_too_large: 1 }),
      // Scanners.
      c: refused({ signature_missing: 2, method_not_allowed: 300 }),
    });
    await expectStory("refused", place.args, [
      "inbox stats DB",
      "inbox stats DB --endpoint c",
      "doctor DB",
    ]);
  });

  testHere(
    "an inbox that is empty, or whose receiver is stopped, while an event waits",
    async () => {
      const empty = newPlace();
      await attended(empty, ["stripe"]);
      await expectStory("empty", empty.args, [
        "inbox stats DB",
        "inbox ls DB",
        "inbox ls DB --endpoint x",
        "doctor DB",
      ]);
      const place = newPlace();
      await staged(place, { orders: [{ eventId: "evt_1" }] });
      await expectStory("stopped", place.args, ["inbox stats DB", "doctor DB"]);
      await staged(place, { waits: [{ eventId: "evt_2", state: "ready" }] });
      await expectStory("stopped-waits", place.args, ["inbox stats DB"]);
    },
  );

  testHere("--since judges only what happened since then", async () => {
    const place = newPlace();
    await staged(place, {
      a: [
        { eventId: "evt_1", state: "dead" },
        { eventId: "evt_2", state: "quarantined", reason: "not_json" },
      ],
    });
    await attended(place, ["a"], { a: refused({ signature_mismatch: 3 }, null, 5) });
    const later = new Date(Date.now() + 60_000).toISOString();
    await expectStory("since", place.args, [
      "inbox stats DB --since 6h",
      `inbox stats DB --since ${later}`,
      `doctor DB --since ${later}`,
    ]);
  });

  testHere("export and import carry every endpoint", async () => {
    const [from, to] = [newPlace(), newFile()];
    await staged(from, {
      a: [{ eventId: "evt_1" }, { eventId: "evt_2" }],
      b: [{ eventId: "evt_1", state: "dead" }],
    });
    const { stdout: input } = await callCli(["inbox", "export", ...from.args]);
    const only = await callCli(["inbox", "export", ...from.args, "--endpoint", "a"]);
    await expectStory("carried", to.args, [
      { args: "inbox import DB --create", input },
      { args: "inbox import DB --endpoint b", input: only.stdout },
      "inbox stats DB",
    ]);
  });
});

test("what doctor and failures print runs when it is pasted into sh", async () => {
  /** Runs what was printed through `sh`, with the built command line. */
  const pasted = async (command = ""): Promise<string> => {
    const script = `npx() { shift; "$NODE" "$MAIN" "$@"; }\n${command}\n`;
    const env = { ...process.env, NODE: process.execPath, MAIN };
    return (await promisify(execFile)("sh", ["-c", script], { env })).stdout;
  };
  const place = newFile();
  await staged(place, {
    "it.s-odd": [{ eventId: "evt_1", state: "dead", reason: "\u001b[31mboom\u001b[0m 'quoted'" }],
    b: [{ eventId: "evt_1", state: "dead", reason: "boom" }],
  });
  const printed = await callCli(["inbox", "failures", ...place.args], { columns: 60 });
  const retry = commandsIn(printed).find((each) => each.includes("it.s-odd"));
  expect(retry).toContain("\\\n");
  expect(await pasted(retry)).toBe("evt_1  ready again\n");
  const found = commandsIn(await callCli(["doctor", ...place.args], { columns: 60 }));
  const [failures, retryAll] = found.filter((each) => each.includes("--endpoint b"));
  expect(await pasted(failures)).toContain("boom");
  expect(await pasted(retryAll)).toBe("evt_1  ready again\n");
});
