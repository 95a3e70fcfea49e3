import type { FinalRow, Line } from "./history.js";

/** A promise that was broken. */
export interface Finding {
  broken:
    | "acknowledged and lost"
    | "several rows"
    | "several effects"
    | "several answers without `duplicate`"
    | "never handed off"
    | "not done"
    | "never sent"
    | "two of a key at once"
    | "out of order"
    | "repeated without a flag"
    | "repeated without a reason";
  id: string;
}

/** A process that was silent can hold events for so long after that others have taken over. */
const STILL_HELD_MS = 20_000;

type Begun = Extract<Line, { say: "begun" }>;
type Silence = Extract<Line, { say: "silenced" }>;

/**
 * Judges what was done to an inbox until all was handed off.
 *
 * @param lines in their order
 * @param effects the ids of the events whose callback had one, in the transaction that completed
 * the event
 */
export function checkHistory(
  lines: readonly Line[],
  rows: readonly FinalRow[],
  effects: readonly string[] = [],
): Finding[] {
  const findings: Finding[] = [];
  const find = (broken: Finding["broken"], ids: Iterable<string>): void => {
    for (const id of new Set(ids)) findings.push({ broken, id });
  };
  const of = <Say extends Line["say"]>(say: Say): Extract<Line, { say: Say }>[] =>
    lines.filter((line): line is Extract<Line, { say: Say }> => line.say === say);

  const sent = new Set(of("sent").map(({ id }) => id));
  const acknowledged = of("acknowledged");
  const begun = of("begun");
  const ended = new Map(of("ended").map((line) => [callOf(line), line]));
  const stored = new Set(rows.map(({ id }) => id));
  const resolved = begun
    .filter((call) => ended.get(callOf(call))?.resolved === true)
    .map(({ id }) => id);
  // A callback that did not see its transaction commit rejects.
  const handedOff = new Set([...resolved, ...effects]);

  find(
    "acknowledged and lost",
    acknowledged.map(({ id }) => id).filter((id) => !stored.has(id)),
  );
  find("several rows", repeated(rows.map(({ id }) => id)));
  find("several effects", repeated(effects));
  find(
    "several answers without `duplicate`",
    repeated(acknowledged.filter((line) => !line.duplicate).map(({ id }) => id)),
  );
  find(
    "not done",
    rows.filter(({ state }) => state !== "done").map(({ id }) => id),
  );
  const named = new Set(
    begun
      .filter((call) => ended.get(callOf(call))?.resolved === true || effects.includes(call.id))
      .flatMap(({ earlier = [] }) => earlier),
  );
  const done = rows.filter(({ id, state }) => state === "done" && sent.has(id));
  find(
    "never handed off",
    done
      .filter(({ id, superseded }) => !(superseded ? named : handedOff).has(id))
      .map(({ id }) => id),
  );
  find(
    "never sent",
    [...rows, ...begun, ...acknowledged].map(({ id }) => id).filter((id) => !sent.has(id)),
  );

  const silences = of("silenced");
  const keyOf = new Map(rows.map(({ id, key }) => [id, key]));
  const seqOf = new Map(rows.map(({ id, seq }) => [id, seq]));
  /** The last call of each key that has an end, and the largest seq that was begun. */
  const lastOf = new Map<string, { call: Begun; endedAt: number; seq: number }>();
  for (const call of begun) {
    const key = keyOf.get(call.id) ?? null;
    if (key === null) continue;
    const last = lastOf.get(key);
    const seq = seqOf.get(call.id) ?? 0;
    const endedAt = ended.get(callOf(call))?.at ?? 0;
    if (last !== undefined && last.endedAt > call.at && last.call.id !== call.id) {
      if (!silences.some((silence) => explains(silence, last.call, call)))
        find("two of a key at once", [call.id]);
    }
    const isFirst = !begun.some(({ id, at }) => id === call.id && at < call.at);
    if (isFirst && seq < (last?.seq ?? 0)) find("out of order", [call.id]);
    const goesOn = last !== undefined && last.endedAt > endedAt;
    const largest = Math.max(seq, last?.seq ?? 0);
    lastOf.set(key, goesOn ? { ...last, seq: largest } : { call, endedAt, seq: largest });
  }
  const callsOf = new Map<string, Begun[]>();
  for (const call of begun) {
    const earlierCalls = callsOf.get(call.id) ?? [];
    callsOf.set(call.id, [...earlierCalls, call]);
    // A retry of an attempt that failed is no repeat.
    const repeats = earlierCalls.filter((earlier) => {
      const end = ended.get(callOf(earlier));
      return (
        end === undefined || end.resolved || end.at > call.at || earlier.attempt >= call.attempt
      );
    });
    if (repeats.length > 0 && !call.possiblyRepeated) find("repeated without a flag", [call.id]);
    const needless = repeats.filter(
      (earlier) => !silences.some((silence) => explains(silence, earlier, call)),
    );
    if (needless.length > 0) find("repeated without a reason", [call.id]);
  }
  return findings;
}

/**
 * Another process takes events over from one that is silent, which may itself begin what it still
 * holds.
 */
function explains({ at, until, process }: Silence, earlier: Begun, later: Begun): boolean {
  const concerns = process === earlier.process || process === later.process;
  return concerns && at <= later.at && until + STILL_HELD_MS >= earlier.at;
}

function callOf({ process, call }: { process: string; call: number }): string {
  return `${process} ${call}`;
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}
