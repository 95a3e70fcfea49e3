import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { callCli } from "../call-cli.js";
import { SECRET } from "../run-cli.js";
import { tempFile } from "../temp-files.js";
import { expectGolden, transcriptOf, type Scene } from "../golden.js";

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

interface Case {
  /** @default the header of EVENT */
  header?: string;
  secret?: string;
  args?: string[];
}

const scene = (
  title: string,
  received: Bytes,
  { header = headerOf(EVENT), secret = SECRET, args = [] }: Case = {},
): Scene => ({
  title,
  args: ["verify", tempFile(received), "-H", header, "--now", String(NOW), ...args],
  env: { SIGNALS_SECRET: secret },
});

const pretty = (indent: number | string): string => JSON.stringify(JSON.parse(EVENT), null, indent);
const escaped = EVENT.replaceAll("é", "\\u00e9").replaceAll("🚂", "\\ud83d\\ude82");
const right = digestOf(EVENT);
const at = (seconds: number): string => headerOf(EVENT, { t: String(NOW + seconds) });
const BASE64_SECRET = "d2hhdCBhIHNlY3JldCBpdCBpcw==";

const BODIES: readonly (readonly [title: string, received: Bytes, signed: Bytes])[] = [
  ["indented after signing", `${pretty(4)}\n`, EVENT],
  ["indented, with numbers that JSON.parse would lose", '{\n  "n": 1.0\n}', '{"n":1.0}'],
  ["Python's blanks when signed", '{"a":[1,2],"b":"c"}', '{"a": [1, 2], "b": "c"}'],
  ["escaped when signed", EVENT, escaped],
  ["a newline added", `${EVENT}\n`, EVENT],
  ["blanks added", `not JSON  \n\n`, "not JSON"],
  ["CRLF became LF", "{\n}\n", "{\r\n}\r\n"],
  ["a BOM added", `\ufeff${EVENT}`, EVENT],
  ["another body", EVENT, '{"another":1}'],
  ["no body", "", EVENT],
];

const SECRETS: readonly (readonly [title: string, given: string, key: string | Buffer])[] = [
  ["a blank before it", ` ${SECRET}`, SECRET],
  ["a line end in the signer's", SECRET, `${SECRET}\n`],
  ["quotes around it", `"${SECRET}"`, SECRET],
  ["a line of an .env file", `SIGNALS_SECRET=${SECRET}`, SECRET],
  ["its prefix is missing", SECRET.slice("whsec_".length), SECRET],
  ["the signer dropped the prefix", SECRET, SECRET.slice("whsec_".length)],
  ["the signer decoded base64", `whsec_${BASE64_SECRET}`, Buffer.from(BASE64_SECRET, "base64")],
  ["the signer decoded hex", "00ff17a5", Buffer.from("00ff17a5", "hex")],
];

const signedAs = (text: string): string =>
  `t=${NOW},v1=${createHmac("sha256", SECRET).update(text).digest("hex")}`;

const HEADERS: readonly (readonly [title: string, header: string])[] = [
  ["right", headerOf(EVENT)],
  ["a whole line", `x-service-signature:${headerOf(EVENT)}\r\n`],
  ["old, within the tolerance", at(-300)],
  ["of the future, within the tolerance", at(12)],
  ["too old", at(-301)],
  ["too early", at(4000)],
  ["the body alone was signed", signedAs(EVENT)],
  ["no dot was signed", signedAs(`${NOW}${EVENT}`)],
  ["milliseconds were signed", signedAs(`${NOW}000.${EVENT}`)],
  ["capitals", `t=${NOW},v1=${right.toUpperCase()}`],
  ["milliseconds", `t=${NOW}000,v1=${right}`],
  ["a blank", `t=${NOW}, v1=${right}`],
  ["the wrong order", `v1=${right},t=${NOW}`],
  ["twice", `t=${NOW},v1=${right}, t=${NOW},v1=${right}`],
  ["no t", `v1=${right}`],
  ["a digest alone", right],
  ["cut off", `t=${NOW},v1=${right.slice(0, 63)}`],
  ["another scheme", `t=${NOW},v0=${right}`],
  ["empty", ""],
];

test("verify names each usual mistake, and neither a secret nor a right signature", async () => {
  const scenes = [
    ...HEADERS.map(([title, header]) => scene(`header: ${title}`, EVENT, { header })),
    ...BODIES.map(([title, received, signed]) =>
      scene(`body: ${title}`, received, { header: headerOf(signed) }),
    ),
    ...SECRETS.map(([title, secret, key]) =>
      scene(`secret: ${title}`, EVENT, { secret, header: headerOf(EVENT, { secret: key }) }),
    ),
    scene("two mistakes at once", `${EVENT}\n`, { secret: `${SECRET} ` }),
    scene("a wider tolerance", EVENT, { header: at(-301), args: ["--tolerance", "301"] }),
    scene("--json, valid", EVENT, { args: ["--json"] }),
    scene("--json, not valid", EVENT, { header: headerOf("other"), args: ["--json"] }),
    scene("several secrets", EVENT, {
      args: ["--secret-file", tempFile(`first\nsecond\n${SECRET}\n`, "secrets")],
    }),
  ];
  const text = await transcriptOf(scenes);
  // What is typed quotes the secret; what is printed must not.
  const printed = text.replaceAll(/^\$ .*$/gm, "");
  expect(printed).not.toMatch(/[\da-f]{64}/i);
  for (const secret of [SECRET, SECRET.slice("whsec_".length), BASE64_SECRET, "00ff17a5"])
    expect(printed).not.toContain(secret);
  await expectGolden("verify", text, [[/[\da-f]{63,64}/gi, "DIGEST"]]);
});

test("the body may come from stdin", async () => {
  const args = ["verify", "-", "-H", headerOf(EVENT), "--now", String(NOW)];
  expect((await callCli(args, { input: EVENT })).exitCode).toBe(0);
});
