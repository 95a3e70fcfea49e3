import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { verifySignature } from "../../../src/kit/index.js";
import { callCli } from "../call-cli.js";
import { expectGolden, transcriptOf } from "../golden.js";
import { ndjson, runCli, SECRET } from "../run-cli.js";
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
) as { vectors: Vector[] };

const usable = vectors.filter(({ secret }) => secret.trim() !== "" && !secret.includes("\0"));

test.each(usable)(
  "openssl and `sign` agree: $name",
  async ({ secret, timestamp, bodyBase64, header }) => {
    const input = Buffer.from(bodyBase64, "base64");
    for (const file of [tempFile(input), "-"]) {
      const args = ["sign", file, "--timestamp", String(timestamp), "--value"];
      const { stdout } = await callCli(args, { env: { SIGNALS_SECRET: secret }, input });
      expect(stdout).toBe(`${header}\n`);
    }
  },
);

test("the header is printed as curl -H takes it, and signed now", async () => {
  const { stdout } = await callCli(["sign", tempFile("{}")]);
  const [, header] = /^X-Service-Signature: (t=\d{10},v1=[0-9a-f]{64})\n$/.exec(stdout) ?? [];
  expect(verifySignature({ header, body: Buffer.from("{}"), secrets: [SECRET] })).toMatchObject({
    ok: true,
  });
  expect(ndjson(await callCli(["sign", "-", "--json", "--timestamp", "1"]))).toEqual([
    { header: "X-Service-Signature", timestamp: 1, value: expect.stringMatching(/^t=1,v1=/) },
  ]);
});

test("--curl prints a command that a shell takes apart as it should, whatever the file's name", async () => {
  const file = tempFile('{"a":1}\n', 'it\'s a $(false) "body".json');
  const url = "http://localhost:3000/hooks?a=1&b=2";
  const args = ["sign", file, "--curl", "--url", url, "--timestamp", "1795255200"];
  const { stdout } = await callCli(args);
  const script = `curl() { printf '%s\\n' "$@"; }; ${stdout}`;
  const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
  const type = ["-X", "POST", url, "-H", "Content-Type: application/json"];
  const signature = expect.stringMatching(/^X-Service-Signature: t=1795255200,v1=[0-9a-f]{64}$/);
  expect(words).toEqual([...type, "-H", signature, "--data-binary", `@${file}`]);
});

test("the secret may come from a flag, the environment or a file without its line end", async () => {
  const folder = tempFiles({
    body: "{}",
    one: `${SECRET}\n`,
    two: `${SECRET}\r\nsecond\r\n`,
    "signals.secret": `${SECRET}\n`,
  });
  const sign = async (SIGNALS_SECRET: string, ...args: string[]): Promise<string> => {
    const env = { SIGNALS_SECRET };
    const all = ["sign", `${folder}/body`, "--timestamp", "1", ...args];
    return (await runCli(all, { env, cwd: folder })).stdout;
  };
  const signed = await sign("other", "--secret", SECRET);
  expect(signed).toMatch(/v1=/);
  expect(await sign(SECRET)).toBe(signed);
  expect(await sign("", "--secret-file", `${folder}/one`)).toBe(signed);
  expect(await sign("", "--secret-file", `${folder}/two`)).toBe(signed);
  expect(await sign("")).toBe(signed);
  expect(await sign("other")).not.toBe(signed);
});

test("a secret that cannot be had, or a file that cannot be read, is said in one line", async () => {
  const file = tempFile("{}");
  const without = (args: string, secret = "") => ({ args, env: { SIGNALS_SECRET: secret } });
  const text = await transcriptOf([
    without(`sign ${file}`),
    without(`sign ${file} --secret a --secret-file b`),
    without(`sign ${file} --secret ''`),
    without(`sign ${file}`, "  "),
    without(`sign ${file} --secret-file /dev/null`),
    without(`sign ${file} --secret-file /no/such/file`),
    `sign ${file}.not`,
    `sign ${dirname(file)}`,
  ]);
  await expectGolden("sign-mistakes", text);
});
