import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { callCli } from "../call-cli.js";
import { ndjson, SECRET, type CliRun } from "../run-cli.js";
import { tempFile } from "../temp-files.js";

const NOW = 1_795_255_200;
const EVENT =
  '{"id":"evt_1","title":"café </b> 🚂","ratio":0.5,"url":"https://catalog.example/en","list":[1,{}]}';

type Bytes = string | Uint8Array;

/** Signed by node:crypto alone, not by the code under test. */
function digestOf(
  body: Bytes,
  { t = String(NOW), secret = SECRET }: { t?: string; secret?: Bytes } = {},
): string {
  return createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex");
}

const headerOf = (body: Bytes, options?: Parameters<typeof digestOf>[1]): string =>
  `t=${options?.t ?? NOW},v1=${digestOf(body, options)}`;

/**
 * Runs `verify`, and makes sure that it gives neither the secret away nor the signature that would
 * have been right.
 */
async function verify(
  body: Bytes,
  header: string,
  { args = [] as string[], secret = SECRET } = {},
): Promise<CliRun> {
  const file = tempFile(body);
  const run = await callCli(["verify", file, "--header", header, "--now", String(NOW), ...args], {
    env: { SIGNALS_SECRET: secret },
  });
  const output = run.stdout + run.stderr;
  expect(output).not.toContain(secret.trim());
  const t = /t=(\d+)/.exec(header)?.[1] ?? String(NOW);
  expect(output).not.toContain(digestOf(body, { t, secret }));
  expect(output).not.toMatch(/[0-9a-f]{64}/i);
  return run;
}

const reason = (run: CliRun): unknown => ndjson(run)[0]?.["reason"];

test("a right signature is valid, with its age", async () => {
  expect(await verify(EVENT, headerOf(EVENT))).toMatchObject({
    exitCode: 0,
    stdout: "valid: signed 0 s ago\n",
  });
  const older = headerOf(EVENT, { t: String(NOW - 300) });
  expect((await verify(EVENT, older)).stdout).toBe("valid: signed 300 s ago\n");
  const ahead = headerOf(EVENT, { t: String(NOW + 12) });
  expect((await verify(EVENT, ahead)).stdout).toBe("valid: signed 12 s in the future\n");
});

test("the header may be given as a whole line", async () => {
  expect((await verify(EVENT, `X-Service-Signature: ${headerOf(EVENT)}`)).exitCode).toBe(0);
  expect((await verify(EVENT, `x-service-signature:${headerOf(EVENT)}\r\n`)).exitCode).toBe(0);
});

test("any of several secrets will do, and which one is said", async () => {
  const file = tempFile(`first\nsecond\n${SECRET}\n`, "secrets");
  const args = ["--header", headerOf(EVENT), "--now", String(NOW), "--secret-file", file];
  const run = await callCli(["verify", tempFile(EVENT), ...args]);
  expect(run).toMatchObject({ exitCode: 0, stdout: "valid: signed 0 s ago, with secret 3 of 3\n" });
  const repeated = [
    "--header",
    headerOf(EVENT),
    "--now",
    String(NOW),
    "--secret",
    "first",
    "--secret",
    SECRET,
  ];
  expect((await callCli(["verify", tempFile(EVENT), ...repeated])).exitCode).toBe(0);
});

test("--json tells the same", async () => {
  expect(ndjson(await verify(EVENT, headerOf(EVENT), { args: ["--json"] }))).toEqual([
    { valid: true, ageSeconds: 0, secretIndex: 0 },
  ]);
  expect(reason(await verify(EVENT, headerOf("other"), { args: ["--json"] }))).toBe(
    "signature_mismatch",
  );
});

const pretty = (indent: number | string): string => JSON.stringify(JSON.parse(EVENT), null, indent);
const escaped = EVENT.replaceAll("é", "\\u00e9").replaceAll("🚂", "\\ud83d\\ude82");

test.each<[what: string, received: Bytes, signed: Bytes, words: string]>([
  ["indented after signing", `${pretty(4)}\n`, EVENT, "as compact JSON"],
  [
    "indented, with numbers that JSON.parse would lose",
    '{\n  "n": 1.0\n}',
    '{"n":1.0}',
    "as compact JSON",
  ],
  [
    "Python's blanks when signed",
    '{"a":[1,2],"b":"c"}',
    '{"a": [1, 2], "b": "c"}',
    "as Python's json.dumps",
  ],
  ["escaped when signed", EVENT, escaped, "as compact JSON, with non-ASCII characters escaped"],
  ["a newline added", `${EVENT}\n`, EVENT, "without the line end"],
  ["blanks added", `not JSON  \n\n`, "not JSON", "without the white space"],
  ["CRLF became LF", "{\n}\n", "{\r\n}\r\n", "with CRLF line ends"],
  ["a BOM added", `\ufeff${EVENT}`, EVENT, "without the byte order mark"],
])("a changed body is seen through: %s", async (_what, received, signed, words) => {
  const run = await verify(received, headerOf(signed));
  expect(run.exitCode).toBe(1);
  expect(run.lines[0]).toBe("not valid: signature_mismatch");
  expect(run.lines).toHaveLength(2);
  expect(run.lines[1]).toContain(`the body was signed ${words}`);
});

const BASE64_SECRET = "d2hhdCBhIHNlY3JldCBpdCBpcw==";

test.each<[what: string, given: string, key: string | Buffer, words: string]>([
  ["a blank before it", ` ${SECRET}`, SECRET, "the secret given here has a space or a line end"],
  ["a line end in the signer's", SECRET, `${SECRET}\n`, "the signer's secret has a line end"],
  ["quotes around it", `"${SECRET}"`, SECRET, "the secret given here has quotes"],
  ["a line of an .env file", `SIGNALS_SECRET=${SECRET}`, SECRET, "a whole line of an .env file"],
  [
    "its prefix is missing",
    SECRET.slice("whsec_".length),
    SECRET,
    "the secret given here lacks its prefix whsec_",
  ],
  [
    "the signer dropped the prefix",
    SECRET,
    SECRET.slice("whsec_".length),
    "the signer's secret lacks its prefix",
  ],
  [
    "the signer decoded base64",
    `whsec_${BASE64_SECRET}`,
    Buffer.from(BASE64_SECRET, "base64"),
    "the signer's secret was decoded from base64",
  ],
  [
    "the signer decoded hex",
    "00ff17a5",
    Buffer.from("00ff17a5", "hex"),
    "the signer's secret was decoded from hex",
  ],
])("a wrong secret is seen through: %s", async (_what, given, key, words) => {
  const run = await verify(EVENT, headerOf(EVENT, { secret: key }), { secret: given });
  expect(run.exitCode).toBe(1);
  expect(run.lines).toHaveLength(2);
  expect(run.lines[1]).toContain(words);
});

test("two mistakes at once are both named", async () => {
  const run = await verify(`${EVENT}\n`, headerOf(EVENT), { secret: `${SECRET} ` });
  expect(run.exitCode).toBe(1);
  expect(run.lines.slice(1).join("\n")).toMatch(
    /without the line end[^]*has a space or a line end around it/,
  );
});

test.each<[what: string, signed: (body: string) => string, words: string]>([
  ["the body alone", (body) => body, "signed only the body"],
  ["no dot", (body) => `${NOW}${body}`, "left out the dot"],
  ["milliseconds", (body) => `${NOW}000.${body}`, "signed milliseconds and sent seconds"],
])("a slip of a home-made signer is seen through: %s", async (_what, signed, words) => {
  const v1 = createHmac("sha256", SECRET).update(signed(EVENT)).digest("hex");
  const run = await verify(EVENT, `t=${NOW},v1=${v1}`);
  expect(run.exitCode).toBe(1);
  expect(run.lines[1]).toContain(words);
});

test("what cannot be undone leaves the causes that cannot be tried", async () => {
  const run = await verify(EVENT, headerOf('{"another":1}'));
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toContain("other possible causes:");
  expect(run.stdout).toContain("another environment");
  expect((await verify("", headerOf(EVENT))).stdout).toContain("the body is empty");
});

const right = digestOf(EVENT);

test.each<[what: string, header: string, words: string, isFixed: boolean]>([
  ["capitals", `t=${NOW},v1=${right.toUpperCase()}`, "lowercase", true],
  ["milliseconds", `t=${NOW}000,v1=${right}`, "t is in milliseconds", true],
  ["a blank", `t=${NOW}, v1=${right}`, "spaces", true],
  ["the wrong order", `v1=${right},t=${NOW}`, "it must be t=", false],
  ["twice", `t=${NOW},v1=${right}, t=${NOW},v1=${right}`, "more than one v1", false],
  ["no t", `v1=${right}`, "no t=", false],
  ["a digest alone", right, "only a digest", false],
  ["cut off", `t=${NOW},v1=${right.slice(0, 63)}`, "63 hex digits", false],
  ["another scheme", `t=${NOW},v0=${right}`, "no v1=", false],
])("a malformed header is explained: %s", async (_what, header, words, isFixed) => {
  const run = await verify(EVENT, header);
  expect(run.exitCode).toBe(1);
  expect(run.lines[0]).toBe("not valid: signature_malformed");
  expect(run.lines[1]).toContain(words);
  expect(run.stdout.includes("after this is fixed, the signature is valid")).toBe(isFixed);
});

test("an empty header is a missing one", async () => {
  expect(reason(await verify(EVENT, "", { args: ["--json"] }))).toBe("signature_missing");
});

test("a stale signature says by how much, and that it matches", async () => {
  const old = await verify(EVENT, headerOf(EVENT, { t: String(NOW - 301) }));
  expect(old.exitCode).toBe(1);
  expect(old.lines[0]).toBe("not valid: timestamp_out_of_tolerance");
  expect(old.lines[1]).toContain("signed 301 s ago, and the tolerance is 300 s");
  const early = await verify(EVENT, headerOf(EVENT, { t: String(NOW + 4000) }));
  expect(early.lines[1]).toContain("signed 4000 s in the future");
  const wider = ["--tolerance", "301"];
  expect(
    (await verify(EVENT, headerOf(EVENT, { t: String(NOW - 301) }), { args: wider })).exitCode,
  ).toBe(0);
});

test("the body may come from stdin", async () => {
  const args = ["verify", "-", "-H", headerOf(EVENT), "--now", String(NOW)];
  expect((await callCli(args, { input: EVENT })).exitCode).toBe(0);
});
