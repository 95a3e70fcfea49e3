import { expect, test } from "vitest";
import { checkHistory } from "./check-history.js";
import { FOREVER, type FinalRow, type Happening, type Line } from "./history.js";

/** A line every ten seconds. */
function history(...parts: Happening[]): Line[] {
  return parts.map((part, index) => ({ at: index * 10_000, ...part }));
}

const sent = (id = "a"): Happening => ({ say: "sent", id });
const acknowledged = (duplicate = false, id = "a"): Happening => ({
  say: "acknowledged",
  id,
  duplicate,
});
const begun = (
  process: string,
  { call = 1, attempt = 1, flag = false, id = "a" } = {},
): Happening => ({
  say: "begun",
  process,
  call,
  id,
  attempt,
  possiblyRepeated: flag,
});
const ended = (process: string, { call = 1, resolved = true } = {}): Happening => ({
  say: "ended",
  process,
  call,
  resolved,
});
const killed = (process: string): Happening => ({ say: "silenced", process, until: FOREVER });

const done = (id = "a"): FinalRow => ({ id, state: "done" });
const ONCE = [sent(), acknowledged(), begun("p"), ended("p")];

const TAKEN = [sent(), acknowledged()];
const FAILED = ended("p", { resolved: false });
const RETRIED = [...TAKEN, begun("p"), FAILED];
const STOPPED: Happening = { say: "silenced", process: "p", until: 35_000 };

const GOOD: [string, Happening[], effects?: string[]][] = [
  ["one hand-off", [...ONCE, acknowledged(true)]],
  [
    "the answer was lost, and the next is a duplicate",
    [sent(), begun("p"), ended("p"), acknowledged(true)],
  ],
  ["sent, and never taken", [...ONCE, sent("b")]],
  ["the answer to the commit of its effect was lost", RETRIED, ["a"]],
  ["a retry", [...RETRIED, begun("q", { attempt: 2 }), ended("q")]],
  [
    "taken over from a killed process, and retried then",
    [
      ...TAKEN,
      begun("p"),
      killed("p"),
      begun("q", { flag: true }),
      ended("q", { resolved: false }),
    ].concat(begun("q", { call: 2, attempt: 2, flag: true }), ended("q", { call: 2 })),
  ],
  [
    "a process that stood still begins, with a flag, what another has ended",
    [
      ...TAKEN,
      STOPPED,
      begun("q", { flag: true }),
      ended("q"),
      begun("p", { flag: true }),
      ended("p"),
    ],
  ],
];

const BAD: [string, Happening[], FinalRow[]?, effects?: string[]][] = [
  ["acknowledged and lost", ONCE, []],
  ["several rows", ONCE, [done(), done()]],
  ["several effects", ONCE, [done()], ["a", "a"]],
  ["several answers without `duplicate`", [...ONCE, acknowledged()]],
  ["not done", ONCE, [{ id: "a", state: "leased" }]],
  ["never handed off", TAKEN],
  ["never handed off", RETRIED],
  ["never handed off", [...TAKEN, begun("p"), killed("p")]],
  ["never sent", [...ONCE, begun("p", { call: 2, id: "b" }), ended("p", { call: 2 })]],
  ["never sent", ONCE, [done(), done("b")]],
  ["never sent", [...ONCE, acknowledged(true, "b")], [done(), done("b")]],
  ["repeated without a flag", [...ONCE, killed("p"), begun("q"), ended("q")]],
  ["repeated without a flag", [...ONCE, killed("p"), begun("q", { attempt: 2 }), ended("q")]],
  [
    "repeated without a flag",
    [...TAKEN, begun("p"), killed("p"), begun("q", { attempt: 2 }), ended("q")],
  ],
  [
    "repeated without a flag",
    [...TAKEN, begun("p"), killed("p"), begun("q", { attempt: 2 }), ended("q"), FAILED],
  ],
  // Both are attempt 1, so the second is no retry of the first.
  ["repeated without a flag", [...RETRIED, killed("p"), begun("q"), ended("q")]],
  [
    "repeated without a flag",
    [...TAKEN, STOPPED, begun("q", { flag: true }), ended("q"), begun("p"), ended("p")],
  ],
  ["repeated without a reason", [...ONCE, begun("q", { flag: true }), ended("q")]],
  ["repeated without a reason", [...ONCE, killed("r"), begun("q", { flag: true }), ended("q")]],
  ["repeated without a reason", [...ONCE, begun("q", { flag: true }), ended("q"), killed("p")]],
  [
    "repeated without a reason",
    [{ ...STOPPED, until: 5000 }, ...ONCE, begun("q", { flag: true }), ended("q")],
  ],
];

test.each(GOOD)("nothing is found: %s", (_, parts, effects) => {
  expect(checkHistory(history(...parts), [done()], effects)).toEqual([]);
});

test.each(BAD)("found, and nothing else: %s (%#)", (broken, parts, rows = [done()], effects) => {
  const ids = broken === "never sent" ? "b" : "a";
  // An event beside it has its own, good history.
  const beside = [
    sent("z"),
    acknowledged(false, "z"),
    begun("r", { id: "z", call: 9 }),
    ended("r", { call: 9 }),
  ];
  const findings = checkHistory(history(...parts, ...beside), [...rows, done("z")], effects);
  expect(findings.map(({ broken: found, id }) => [found, id])).toContainEqual([broken, ids]);
  expect(new Set(findings.map(({ broken: found }) => found))).toEqual(new Set([broken]));
});
