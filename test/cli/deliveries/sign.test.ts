import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { verifySignature } from "../../../src/kit/index.js";
import { callCli } from "../call-cli.js";
import { ndjson, runCli, SECRET, type CliRun } from "../run-cli.js";
import { tempFile, tempFiles } from "../temp-files.js";

interface Vector {
  name: string;
  secret: string;
  timestamp: number;
  bodyBase64: string;
  header: string;
}

const { vectors } = JSON.parse(
  readFileSync(new URL("../../../fixtures/signatures.json", import.meta.url), "utf8"),
) as {
  vectors: Vector[];
};

const usable = vectors.filter(({ secret }) => secret.trim() !== "" && !secret.includes("\0"));

test.each(usable)(
  "openssl and `sign` agree: $name",
  async ({ secret, timestamp, bodyBase64, header }) => {
    const body = Buffer.from(bodyBase64, "base64");
    const args = ["--timestamp", String(timestamp), "--value"];
    const env = { SIGNALS_SECRET: secret };
    expect(await callCli(["sign", tempFile(body), ...args], { env })).toMatchObject({
      exitCode: 0,
      stdout: `${header}\n`,
    });
    expect((await callCli(["sign", "-", ...args], { env, input: body })).stdout).toBe(
      `${header}\n`,
    );
  },
);

test("the header is printed as curl -H takes it, and signed now", async () => {
  const { stdout, stderr } = await callCli(["sign", tempFile("{}")]);
  expect(stdout).toMatch(/^X-Service-Signature: t=\d{10},v1=[0-9a-f]{64}\n$/);
  expect(stderr).toBe("");
  const header = stdout.trim().split(": ")[1];
  expect(verifySignature({ header, body: Buffer.from("{}"), secrets: [SECRET] })).toMatchObject({
    ok: true,
  });
});

test("--json gives an object", async () => {
  const run = await callCli(["sign", tempFile("{}"), "--json", "--timestamp", "1"]);
  expect(ndjson(run)[0]).toEqual({
    header: "X-Service-Signature",
    timestamp: 1,
    value: expect.stringMatching(/^t=1,v1=/),
  });
});

test("--curl prints a command that a shell takes apart as it should, whatever the file's name", async () => {
  const file = tempFile('{"a":1}\n', 'it\'s a $(false) "body".json');
  const url = "http://localhost:3000/hooks?a=1&b=2";
  const { stdout } = await callCli([
    "sign",
    file,
    "--curl",
    "--url",
    url,
    "--timestamp",
    "1795255200",
  ]);
  const script = `curl() { printf '%s\\n' "$@"; }; ${stdout}`;
  const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
  expect(words).toEqual([
    "-X",
    "POST",
    url,
    "-H",
    "Content-Type: application/json",
    "-H",
    expect.stringMatching(/^X-Service-Signature: t=1795255200,v1=[0-9a-f]{64}$/),
    "--data-binary",
    `@${file}`,
  ]);
});

test("the secret may come from a flag, the environment or a file without its line end", async () => {
  const file = tempFile("{}");
  const sign = (args: string[], env = {}): Promise<CliRun> =>
    callCli(["sign", file, "--timestamp", "1", ...args], { env: { SIGNALS_SECRET: "", ...env } });
  const fromFlag = await sign(["--secret", SECRET]);
  expect(fromFlag.exitCode).toBe(0);
  expect((await sign([], { SIGNALS_SECRET: SECRET })).stdout).toBe(fromFlag.stdout);
  expect((await sign(["--secret-file", tempFile(`${SECRET}\n`)])).stdout).toBe(fromFlag.stdout);
  expect((await sign(["--secret-file", tempFile(`${SECRET}\r\nsecond\r\n`)])).stdout).toBe(
    fromFlag.stdout,
  );
  expect((await sign(["--secret", SECRET], { SIGNALS_SECRET: "other" })).stdout).toBe(
    fromFlag.stdout,
  );

  const cwd = tempFiles({ "signals.secret": `${SECRET}\n` });
  const inFolder = (env = {}): Promise<CliRun> =>
    runCli(["sign", file, "--timestamp", "1"], { cwd, env });
  expect((await inFolder()).stdout).toBe(fromFlag.stdout);
  expect((await inFolder({ SIGNALS_SECRET: "other" })).stdout).not.toBe(fromFlag.stdout);
});

test.each([
  ["none", [], {}, 2, "no signals.secret, so give --secret-file <file>, or set SIGNALS_SECRET"],
  ["two flags", ["--secret", "a", "--secret-file", "b"], {}, 2, "not both"],
  ["an empty one", ["--secret", ""], {}, 2, "It is empty"],
  ["a blank one", [], { SIGNALS_SECRET: "  " }, 2, "SIGNALS_SECRET contains no secret"],
  ["an empty file", ["--secret-file", "/dev/null"], {}, 2, "contains no secret"],
  [
    "a file that is not there",
    ["--secret-file", "/no/such/file"],
    {},
    3,
    "cannot read the secret file",
  ],
])(
  "a secret that cannot be had is said in one line: %s",
  async (_what, args, env, exitCode, words) => {
    const run = await callCli(["sign", tempFile("{}"), ...args], {
      env: { SIGNALS_SECRET: "", ...env },
    });
    expect(run).toMatchObject({ exitCode, stdout: "" });
    expect(run.stderr).toContain(words);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
  },
);

test("a file that is not there, or a folder, is exit 3 with one line", async () => {
  const file = tempFile("{}");
  expect(await callCli(["sign", `${file}.not`])).toMatchObject({
    exitCode: 3,
    stderr: `signalbox sign: cannot read ${file}.not: there is no such file\n`,
  });
  expect((await callCli(["sign", dirname(file)])).stderr).toContain("it is a folder");
});
