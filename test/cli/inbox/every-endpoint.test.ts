import { execFile } from "node:child_process";
import { promisify, stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
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

const refused = (counts: object, pause: object | null = null): object => ({
  pause,
  refused: { [Date.now() - (Date.now() % 3_600_000)]: counts },
  examples: [],
});

const inbox = (place: Place, ...words: string[]): Promise<CliRun> =>
  callCli(["inbox", words[0] as string, ...place.args, ...words.slice(1)]);

const doctor = (place: Place, ...words: string[]): Promise<CliRun> =>
  callCli(["doctor", ...place.args, ...words]);

/**
 * The commands of an output, as a person copies them: with the line ends that the terminal has
 * made.
 */
function commandsIn(stdout: string): string[] {
  return [...stripVTControlCharacters(stdout).matchAll(/^ *\$ ((?:.*\\\n)*.*)$/gm)].map(
    ([, command = ""]) => command,
  );
}

/** Runs what was printed through `sh`, with the built command line. */
async function pasted(command: string): Promise<string> {
  const script = `npx() { shift; "$NODE" "$MAIN" "$@"; }\n${command}\n`;
  const env = { ...process.env, NODE: process.execPath, MAIN };
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { env });
  return stdout;
}

/** What `sh` makes of a printed command, given to the command line in this process. */
async function parsed(command: string): Promise<CliRun> {
  const { stdout } = await promisify(execFile)("sh", [
    "-c",
    `npx() { printf '%s\\0' "$@"; }\n${command}\n`,
  ]);
  return callCli(stdout.split("\0").slice(1, -1));
}

describe.each(KINDS)("an inbox in $kind:", ({ isThere, newPlace }) => {
  const testHere = testWith(isThere);

  testHere("all well in endpoints of odd names, none of them called default", async () => {
    const place = newPlace();
    const names = ["stripe", "a.b-c_d"];
    await staged(place, {
      stripe: [{ eventId: "evt_1" }, { eventId: "evt_2" }],
      "a.b-c_d": [{ eventId: "evt_3" }],
    });
    await attended(place, names);
    await expectStory("endpoints", place.args, ["stats", "ls", "prune"]);
    expect(await doctor(place)).toMatchObject({ exitCode: 0 });
    const [json] = ndjson(await inbox(place, "stats", "--json"));
    expect(json).toMatchObject({
      endpoint: null,
      done: 3,
      level: "ok",
      hasReceiver: true,
      endpoints: [
        { endpoint: "a.b-c_d", done: 1 },
        { endpoint: "stripe", done: 2 },
      ],
    });
    expect(ndjson(await inbox(place, "export"))).toHaveLength(3);
  });

  testHere(
    "what fails elsewhere than in default is told first, by every command, and retried",
    async () => {
      const place = newPlace();
      await staged(place, {
        default: [{ eventId: "sig_1" }],
        stripe: [
          { eventId: "evt_1", state: "dead", reason: "Error: connect 10.0.0.1" },
          { eventId: "evt_2", state: "dead", reason: 'TypeError: it\'s $(touch x) `id` "q"' },
        ],
      });
      await attended(place, ["default", "stripe"]);
      const run = await inbox(place, "stats");
      expect(run.exitCode).toBe(1);
      expect(run.lines.slice(0, 2)).toEqual([
        "stripe: 2 dead: hand-offs were given up.",
        "default: Up to date.",
      ]);
      expect(ndjson(await inbox(place, "stats", "--json"))[0]).toMatchObject({
        dead: 2,
        total: 3,
        level: "problem",
      });
      expect(await inbox(place, "stats", "--endpoint", "default")).toMatchObject({ exitCode: 0 });
      const found = await doctor(place);
      expect(found).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining("endpoint stripe: 2 dead"),
      });
      for (const command of commandsIn(found.stdout))
        expect(command).toContain("--endpoint stripe");
      expect((await inbox(place, "show", "evt_1")).stdout).toMatch(/^endpoint +stripe$/m);
      expect(ndjson(await callCli(["trace", "evt_1", ...place.args, "--json"]))).not.toEqual([]);

      const failures = await callCli(["inbox", "failures", ...place.args], { columns: 60 });
      const commands = commandsIn(failures.stdout);
      expect(commands).toHaveLength(2);
      for (const command of commands)
        expect(await parsed(command)).toMatchObject({
          exitCode: 0,
          stdout: expect.stringMatching(/^evt_\d {2}ready/),
        });
      expect(ndjson(await inbox(place, "ls", "--state", "ready", "--json"))).toHaveLength(2);
    },
  );

  testHere(
    "an error with colours, line ends and signs that nobody sees is matched by the command that is printed",
    async () => {
      const reasons = [
        "\u001b[31mError\u001b[39m: \u001b[1;4mInvalid `prisma.user()`\u001b[0m invocation\n\n\u001b[2mtenant\u200b is gone",
        "Error: 50% of \\a_b 'quoted' $(touch x) $HOME !! \u202e…",
        "--not an option\u0007",
      ];
      for (const columns of [60, 80]) {
        const place = newPlace();
        await staged(place, {
          gh: reasons.map((reason, index) => ({ eventId: `evt_${index}`, state: "dead", reason })),
        });
        const commands = commandsIn(
          (await callCli(["inbox", "failures", ...place.args], { columns })).stdout,
        );
        expect(commands).toHaveLength(reasons.length);
        for (const command of commands) {
          expect(command).not.toMatch(/\\u|--endpoint/);
          const run = await parsed(command);
          expect(run, command).toMatchObject({
            exitCode: 0,
            stdout: expect.stringMatching(/^evt_\d {2}(ready again|due now)\n$/),
          });
        }
      }
    },
  );

  testHere(
    "a misspelt endpoint is exit 2, with the near name and those that there are",
    async () => {
      const place = newPlace();
      await staged(place, { stripe: [{ eventId: "evt_1" }], github: [{ eventId: "evt_2" }] });
      for (const words of ["ls", "discard evt_1"]) {
        const run = await inbox(place, ...words.split(" "), "--endpoint", "strpe");
        expect(run, words).toMatchObject({ exitCode: 2, stdout: "" });
        expect(run.stderr).toMatch(
          /no endpoint "strpe": it has github, stripe; did you mean "stripe"\?\n$/,
        );
      }
      expect(await doctor(place, "--endpoint", "strpe")).toMatchObject({ exitCode: 2 });
      expect(await callCli(["trace", "evt_1", ...place.args, "--endpoint", "strpe"])).toMatchObject(
        { exitCode: 2 },
      );
    },
  );

  testHere(
    "an id that is in two endpoints is exit 2 with both, and a delivery key or --endpoint chooses",
    async () => {
      const place = newPlace();
      const twice = { eventId: "evt_1", state: "dead" } as const;
      await staged(place, { a: [twice], b: [twice, { eventId: "evt_2", state: "dead" }] });
      for (const words of [["show"], ["retry"], ["discard"]]) {
        const run = await inbox(place, ...words, "evt_1");
        expect(run).toMatchObject({
          exitCode: 2,
          stderr: expect.stringContaining('in the endpoints "a" and "b"'),
        });
      }
      expect(await callCli(["trace", "evt_1", ...place.args])).toMatchObject({ exitCode: 2 });
      expect((await inbox(place, "show", "b/evt_1")).stdout).toMatch(/^endpoint +b$/m);
      expect(ndjson(await inbox(place, "retry", "a/evt_1", "evt_2", "--json")).slice(0, 2)).toEqual(
        [
          { endpoint: "a", eventId: "evt_1", outcome: "moved" },
          { endpoint: "b", eventId: "evt_2", outcome: "moved" },
        ],
      );
      expect(await inbox(place, "retry", "evt_1", "--endpoint", "b")).toMatchObject({
        exitCode: 0,
      });
    },
  );

  testHere("paused in one endpoint and quarantined in another: the worst is first", async () => {
    const place = newPlace();
    const now = Date.now();
    await staged(place, {
      a: [{ eventId: "evt_1", state: "quarantined", reason: "not_json" }],
      b: [{ eventId: "evt_2", state: "failing", reason: "Error: connect ECONNREFUSED" }],
      c: [{ eventId: "evt_3" }],
    });
    const pause = {
      since: now - 60_000,
      error: "Error: connect ECONNREFUSED",
      nextTryAt: now + 9000,
    };
    await attended(place, ["a", "b", "c"], { b: refused({}, pause) });
    const run = await inbox(place, "stats");
    expect(run.exitCode).toBe(1);
    expect(run.lines[0]).toMatch(
      /^b: Hand-offs are paused since .* 1 waiting \(1 after a failed hand-off\), /,
    );
    expect(run.lines.slice(1, 3)).toEqual([
      "a: 1 quarantined: they could not be read.",
      "c: Up to date.",
    ]);
    expect(ndjson(await inbox(place, "stats", "--json"))[0]).toMatchObject({
      pause: { error: pause.error },
    });
    const examined = await doctor(place);
    const commands = commandsIn(examined.stdout);
    const [failures, quarantined] = await Promise.all(commands.map(parsed));
    expect(failures?.stdout).toContain("connect ECONNREFUSED");
    expect(quarantined?.stdout).toContain("evt_1");
  });

  testHere(
    "refused deliveries are told and exit 1, even of an endpoint that has never stored one; scanners are not",
    async () => {
      const place = newPlace();
      await staged(place, { a: [{ eventId: "evt_1" }] });
      await attended(place, ["a", "b", "c"], {
        b: refused({ signature_mismatch: 11, body_too_large: 1 }),
        c: refused({ signature_missing: 2, method_not_allowed: 300 }),
      });
      const run = await inbox(place, "stats");
      expect(run.exitCode).toBe(1);
      expect(run.lines.slice(0, 3)).toEqual([
        expect.stringMatching(
          /^b: 12 deliveries were refused in the last 24 h: mostly signature_mismatch\./,
        ),
        "a: Up to date.",
        expect.stringMatching(
          /^c: .*302 deliveries were refused in the last 24 h: mostly method_not_allowed\.$/,
        ),
      ]);
      expect(
        run.lines
          .slice(0, 3)
          .filter((line) => line.includes("refused"))
          .join(),
      ).not.toContain("Up to date");
      expect(await inbox(place, "stats", "--endpoint", "c")).toMatchObject({ exitCode: 0 });
      expect(await doctor(place)).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining("[inbox_refusing]"),
      });
    },
  );

  testHere("a stopped receiver is told, and needs a person once an event waits", async () => {
    const place = newPlace();
    await staged(place, { orders: [{ eventId: "evt_1" }] });
    const run = await inbox(place, "stats");
    expect([run.exitCode, run.lines[0]]).toEqual([0, "No receiver has this inbox open."]);
    expect(await doctor(place)).toMatchObject({
      stdout: expect.stringContaining("inbox_not_owned"),
    });
    await staged(place, { waits: [{ eventId: "evt_2", state: "ready" }] });
    expect((await inbox(place, "stats")).exitCode).toBe(1);
  });

  testHere(
    "an empty inbox that a receiver has open is fine, and says that it is empty",
    async () => {
      const place = newPlace();
      await attended(place, ["stripe"]);
      expect(await inbox(place, "stats")).toMatchObject({
        exitCode: 0,
        stdout: expect.stringMatching(/^The inbox is empty\.\n/),
      });
      expect(await inbox(place, "ls")).toMatchObject({
        exitCode: 0,
        stdout: "",
        stderr: "the inbox is empty\n",
      });
      expect(await inbox(place, "ls", "--endpoint", "x")).toMatchObject({ exitCode: 2 });
      expect(await doctor(place)).toMatchObject({ exitCode: 0 });
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
    await attended(place, ["a"], {
      a: {
        pause: null,
        refused: { [Date.now() - 5 * 3_600_000]: { signature_mismatch: 3 } },
        examples: [],
      },
    });
    const run = await inbox(place, "stats", "--since", "6h");
    expect(run.exitCode).toBe(1);
    expect(run.lines[0]).toMatch(
      /^3 deliveries were refused in the last 6 h.*1 dead.*1 quarantined/,
    );
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await inbox(place, "stats", "--since", later)).toMatchObject({ exitCode: 0 });
    expect(await doctor(place, "--since", later)).toMatchObject({ exitCode: 0 });
  });

  testHere("export and import carry every endpoint", async () => {
    const [from, to] = [newPlace(), newFile()];
    await staged(from, {
      a: [{ eventId: "evt_1" }, { eventId: "evt_2" }],
      b: [{ eventId: "evt_1", state: "dead" }],
    });
    const { stdout } = await inbox(from, "export");
    const run = await callCli(["inbox", "import", ...to.args, "--create"], { input: stdout });
    expect(run).toMatchObject({
      exitCode: 0,
      stdout: "imported 3 events; 0 were in the inbox already\n",
    });
    expect(ndjson(await inbox(to, "stats", "--json"))[0]).toMatchObject({ done: 2, dead: 1 });
    const only = await inbox(from, "export", "--endpoint", "a");
    const other = await callCli(
      ["inbox", "import", ...newFile().args, "--create", "--endpoint", "b"],
      {
        input: only.stdout,
      },
    );
    expect(other).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("leave --endpoint out"),
    });
  });
});

test("what doctor and failures print runs when it is pasted into sh", async () => {
  const place = newFile();
  await staged(place, {
    "it.s-odd": [{ eventId: "evt_1", state: "dead", reason: "\u001b[31mboom\u001b[0m 'quoted'" }],
    b: [{ eventId: "evt_1", state: "dead", reason: "boom" }],
  });
  const printed = (await callCli(["inbox", "failures", ...place.args], { columns: 60 })).stdout;
  const retry = commandsIn(printed).find((each) => each.includes("it.s-odd"));
  expect(retry).toContain("\\\n");
  expect(await pasted(retry ?? "")).toBe("evt_1  ready again\n");
  const found = await callCli(["doctor", ...place.args], { columns: 60 });
  const [failures, retryAll] = commandsIn(found.stdout).filter((each) =>
    each.includes("--endpoint b"),
  );
  expect(await pasted(failures ?? "")).toContain("boom");
  expect(await pasted(retryAll ?? "")).toBe("evt_1  ready again\n");
});
