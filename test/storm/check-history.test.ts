import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkHistory } from "./check-history.js";
import { FOREVER, type FinalRow, type Happening, type Line } from "./history.js";

/**
 * One history a line: what is broken, or why nothing is, a colon, and what happened. The first word
 * says what: `sent`, `acknowledged`, `begun`, `ended`, `silenced`, or, of what is found afterwards,
 * `row` and `effect`. Then what differs from the usual: an event `a`, a process `p`, call and
 * attempt 1, no flag, resolved, silent for ever, a row that is done.
 */
const HISTORIES = readFileSync(new URL("histories.txt", import.meta.url), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, expected = "", happened = ""] = /^([^#][^:]*): (.*)$/.exec(line) ?? [];
    return expected === "" ? [] : [[expected, happened] as const];
  });

function happeningOf(text: string): Happening | (FinalRow & { say: "row" | "effect" }) {
  const [say = "", ...words] = text.split(" ");
  const given = Object.fromEntries(words.map((word) => [...word.split("="), ""])) as Record<
    string,
    string
  >;
  const { id = "a", process = "p", call = "1", attempt = "1", until, state = "done" } = given;
  const { seq = "0", key = null, earlier } = given;
  return {
    say,
    id,
    process,
    call: Number(call),
    attempt: Number(attempt),
    possiblyRepeated: given["flag"] !== undefined,
    duplicate: given["duplicate"] !== undefined,
    resolved: given["failed"] === undefined,
    until: until === undefined ? FOREVER : Number(until),
    state,
    seq: Number(seq),
    key,
    superseded: given["superseded"] !== undefined,
    ...(earlier !== undefined && { earlier: [earlier] }),
  } as Happening;
}

/** What is found in a history of which a line happens every ten seconds. */
function findingsOf(happened: string): [string, string][] {
  const all = happened.split(", ").map((text) => happeningOf(text));
  const of = (say: string) => all.filter((each) => each.say === say) as FinalRow[];
  const lines = all
    .filter(({ say }) => say !== "row" && say !== "effect")
    .map((each, index) => ({ at: index * 10_000, ...each }) as Line);
  const effects = of("effect").map(({ id }) => id);
  return checkHistory(lines, of("row"), effects).map(({ broken, id }) => [broken, id]);
}

test.each(HISTORIES)("%s: %s", (expected, happened) => {
  // An event beside it has its own, good history.
  const beside =
    "sent id=z, acknowledged id=z, begun id=z process=r call=9, ended process=r call=9, row id=z";
  const found = findingsOf(`${happened}, ${beside}`);
  const [, isFine] = /^(fine),/.exec(expected) ?? [];
  const id = expected === "never sent" ? "b" : "a";
  expect(new Set(found.map(String))).toEqual(new Set(isFine ? [] : [`${expected},${id}`]));
});
