import { expect, test } from "vitest";
import { freePort } from "../../../own-postgres.js";
import { callCli } from "../../call-cli.js";
import { rowsOf, SECRET } from "../../run-cli.js";
import { listen, serveReceiver } from "../../serve-requests.js";
import { tempFile } from "../../temp-files.js";

interface Row {
  level: string;
  id: string | null;
  examination: string;
  group: string;
  found: string;
  fix: string | null;
}

test("a healthy receiver: exit 0, grouped findings, and the counts at the end, all on stdout", async () => {
  const { receiver, url } = await serveReceiver();
  const run = await callCli(["doctor", "--url", url]);
  expect(run.exitCode).toBe(0);
  expect(run.stderr).toBe("");
  expect(run.lines.at(-1)).toBe("no problems found; 2 warnings: url_not_https, address_local");
  const headings = run.lines.slice(0, -1).filter((line) => !line.startsWith(" "));
  expect(headings).toEqual(["Inbox file", "Address", "Connection", "Signature", "Body"]);
  expect(run.stdout).toMatch(/^ {2}skipped {2}inbox-file: .*--db/m);
  expect(run.stdout).toMatch(/^ {2}ok {7}.* \[secret\]$/m);
  expect(run.stdout).toMatch(/^ {2}warning {2}.* \[url_not_https\]\n +→ /m);
  expect(run.stdout).not.toContain(SECRET);
  expect(receiver.health().deliveries.accepted).toBe(0);
  expect(await callCli(["doctor", "--url", url, "--test-event"])).toMatchObject({ exitCode: 0 });
  expect(receiver.health().deliveries.accepted).toBe(1);
});

test("a problem: exit 1, and its fix", async () => {
  const url = await listen(
    (request, response) => void request.resume().on("end", () => response.writeHead(404).end()),
  );
  const run = await callCli(["doctor", "--url", url]);
  expect(run.exitCode).toBe(1);
  expect(run.lines.at(-1)).toBe(
    "1 problem: path_not_found; 2 warnings: url_not_https, address_local",
  );
  expect(run.stdout).toMatch(/problem {2}404: .* \[path_not_found\]\n +→ /);
  expect(run.stdout).toMatch(/skipped {2}secret: .*path_not_found/);
});

test("--json: one object a line, and nothing else on stdout", async () => {
  const { url } = await serveReceiver({ secrets: "another" });
  const run = await callCli(["doctor", "--url", url, "--json"]);
  expect(run.exitCode).toBe(1);
  const rows = rowsOf<Row>(run);
  expect(rows.filter(({ level }) => level === "problem")).toMatchObject([
    { id: "secret_unknown", examination: "secret", group: "Signature" },
  ]);
  for (const { level, fix, id } of rows) {
    expect(["ok", "warning", "problem", "skipped"]).toContain(level);
    expect(fix === null).toBe(level === "ok" || level === "skipped");
    expect(id === null).toBe(level === "skipped");
  }
});

test("unreachable is exit 3, unless something else is wrong as well", async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const run = await callCli(["doctor", "--url", url]);
  expect(run.exitCode).toBe(3);
  expect(run.stdout).toContain("[connection_refused]");
  const withFile = await callCli([
    "doctor",
    "--url",
    url,
    "--db",
    tempFile("a letter", "letter.db"),
  ]);
  expect(withFile.exitCode).toBe(1);
});

test("it waits for an answer as long as --timeout says", async () => {
  const { exitCode, stdout } = await callCli([
    "doctor",
    "--url",
    await listen(() => undefined),
    "--timeout",
    "1",
  ]);
  expect([exitCode, stdout]).toEqual([3, expect.stringContaining("did not answer within 1 s")]);
});

test("--db alone looks at the file, asks for no secret and sends nothing", async () => {
  const run = await callCli(["doctor", "--db", tempFile("no inbox"), "--json"], {
    env: { SIGNALS_SECRET: "" },
  });
  expect(run.exitCode).toBe(1);
  const rows = rowsOf<Row>(run);
  expect(rows.filter(({ level }) => level === "problem").map(({ id }) => id)).toEqual([
    "inbox_not_ours",
  ]);
  const skipped = rows
    .filter(({ found }) => found.includes("no --url URL was given"))
    .map(({ group }) => group);
  expect(new Set(skipped)).toEqual(new Set(["Address", "Connection", "Signature", "Body"]));
});
