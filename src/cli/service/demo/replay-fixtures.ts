import { parseEvent } from "../../../kit/senders/signals/parse-event.js";
import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import type { Cli } from "../../console/cli.js";
import { describeWanted } from "../../deliveries/answer.js";
import { readFixtureFolder } from "../../deliveries/fixture-folder.js";
import {
  failedNames,
  replayDeliveries,
  type ReplayOptions,
} from "../../deliveries/replay-deliveries.js";
import type { CaseResult } from "../../deliveries/send-cases.js";
import type { DemoReceiver } from "./demo-receiver.js";
import { reportHandOffs, type Report } from "./report-steps.js";

/** @returns the names of the deliveries whose answers were not as expected */
export async function replayFixtures(
  receiver: DemoReceiver,
  { secret, rows }: { secret: string; rows: ReplayOptions["rows"] },
  report: Report,
  { terminal, signal }: Pick<Cli, "terminal" | "signal">,
): Promise<string[]> {
  const { deliveries, events } = readFixtureFolder();
  const before = receiver.keys.length;
  const keptBefore = (await receiver.receiver.inbox.stats()).quarantined;
  const target = { url: receiver.url, secret, events, timeoutMs: 15_000, signal };
  const results = await replayDeliveries(target, deliveries, { rows }, terminal);
  const kept = (await receiver.receiver.inbox.stats()).quarantined - keptBefore;
  for (const kind of KINDS) reportKind(kind, results, kept, report);
  const accepted = results.filter((result) => result.ok && ACCEPTED.test(wantedOf(result))).length;
  await receiver.settle(before + accepted, signal);
  signal.throwIfAborted();
  reportHandOffs(receiver.keys.slice(before), accepted, report);
  return failedNames(results);
}

type Kind = readonly [step: string, wanted: RegExp, what: string];

const ACCEPTED = /received$/;

/** Each delivery is of the one kind whose pattern matches the answer that is expected. */
const KINDS: readonly Kind[] = [
  ["accepted", ACCEPTED, `signals of ${SIGNAL_TYPES.length} types, and test events`],
  ["duplicate", /duplicate$/, "events that were accepted before"],
  ["challenge", /challenge$/, "verifications"],
  ["unusable", /quarantined$/, "events, kept in the quarantine"],
  ["forged", /^401/, "without a valid signature"],
  ["refused", /^4(?!01)/, "too big, zipped or not POST"],
];

/** @param kept how many events were added to the quarantine */
function reportKind(
  [step, wanted, what]: Kind,
  results: readonly CaseResult[],
  kept: number,
  report: Report,
): void {
  const ofKind = results.filter((result) => wanted.test(wantedOf(result)));
  const statuses = new Set(
    ofKind.map(({ answer }) => (answer.kind === "answer" ? answer.status : "no answer")),
  );
  const isKept = step !== "unusable" || kept === ofKind.length;
  const isOk = ofKind.length > 0 && ofKind.every(({ ok }) => ok) && isKept;
  report(step, isOk, `${ofKind.length} ${what}: ${[...statuses].join(", ")}`);
}

/** An event of an unknown type is answered like a known one, but it is quarantined. */
function wantedOf({ expected, sent }: CaseResult): string {
  const wanted = describeWanted("exact", expected);
  return wanted === "200 received" && parseEvent(sent).kind === "unknown"
    ? "200 quarantined"
    : wanted;
}
