import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testWith } from "../prerequisites.js";

interface Vector {
  name: string;
  secret: string;
  timestamp: number;
  body?: string;
  bodyBase64: string;
  v1: string;
  header: string;
}

const file = readFileSync(new URL("../../fixtures/signatures.json", import.meta.url));
const script = fileURLToPath(new URL("../../fixtures/signatures.sh", import.meta.url));
const { vectors } = JSON.parse(file.toString()) as { vectors: Vector[] };

const namesOfFailing = (passes: (vector: Vector) => boolean) =>
  vectors.filter((vector) => !passes(vector)).map((vector) => vector.name);

test("there are at least twelve vectors, each with a name of its own", () => {
  expect(vectors.length).toBeGreaterThanOrEqual(12);
  expect(new Set(vectors.map((vector) => vector.name)).size).toBe(vectors.length);
});

test("a vector's text is the text of its bytes, and its header holds its time and digest", () => {
  const agrees = ({ body, bodyBase64, timestamp, v1, header }: Vector) =>
    /^[0-9a-f]{64}$/.test(v1) &&
    header === `t=${timestamp},v1=${v1}` &&
    (body === undefined || Buffer.from(body).toString("base64") === bodyBase64);
  expect(namesOfFailing(agrees)).toEqual([]);
});

test("the vectors hold on node:crypto as well", () => {
  const holds = ({ secret, timestamp, bodyBase64, v1 }: Vector) => {
    const hmac = createHmac("sha256", Buffer.from(secret, "utf8")).update(`${timestamp}.`);
    return hmac.update(Buffer.from(bodyBase64, "base64")).digest("hex") === v1;
  };
  expect(namesOfFailing(holds)).toEqual([]);
});

// In CI a missing openssl is a failure; on a laptop without bash or openssl the test is skipped by name.
const cannotRunScript = ["bash", "openssl"].some((tool) => spawnSync(tool, ["--version"]).error !== undefined);

testWith(!cannotRunScript)("openssl prints signatures.json byte for byte", () => {
  const printed = execFileSync("bash", [script], { maxBuffer: 16 * 1024 * 1024 });
  expect(printed.equals(file)).toBe(true);
});
