import { readdirSync, readFileSync } from "node:fs";

const FIXTURES = new URL("../../../fixtures/", import.meta.url);

export interface FixtureCase {
  name: string;
  check: string;
  repeat?: number;
  expect: { status: number; body?: Record<string, unknown>; code?: string };
  expectRepeat?: FixtureCase["expect"];
}

export const EVENT_NAMES: readonly string[] = ["signals", "events"].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, FIXTURES)).map(
    (file) => `${folder}/${file.replace(/\.json$/, "")}`,
  ),
);

export const CASES = (
  JSON.parse(readFileSync(new URL("deliveries.json", FIXTURES), "utf8")) as {
    deliveries: FixtureCase[];
  }
).deliveries;

/** Each request of a whole replay, as it is named in a line, with what it expects. */
export const REQUESTS: readonly { name: string; expect: FixtureCase["expect"] }[] = [
  ...EVENT_NAMES.map((name) => {
    const isVerification = name === "events/webhook.verification";
    return {
      name,
      expect: { status: 200, body: isVerification ? { challenge: "" } : { received: true } },
    };
  }),
  ...CASES.flatMap(({ name, repeat = 1, expect, expectRepeat }) =>
    Array.from({ length: repeat }, (_, index) => ({
      name: repeat === 1 ? name : `${name} (${index + 1}/${repeat})`,
      expect: index === 0 ? expect : (expectRepeat ?? expect),
    })),
  ),
];
