import { formatCount } from "../../../base/text/format.js";
import { ignore } from "../../../base/errors.js";
import type { ReplayOutcome } from "../../../kit/inbox/stored-events.js";
import { ActionButton, request, type Said, useRoot } from "../../parts/index.js";
import type { End, MoveAnswer } from "../inbox-api.js";

type Kind = "replay" | "discard";

const TEXTS = {
  replay: {
    action: "Replay",
    text: "The callback gets each of them again. One that was done before may repeat its work.",
    moved: "will be handed off again",
    wrongState: "running already",
  },
  discard: {
    action: "Discard",
    text: "The payload of each is deleted, which cannot be undone. Its id stays known, so that it is not accepted again.",
    moved: "discarded",
    wrongState: "waiting or running",
  },
} as const;

const HAND_OFF_NOW = {
  action: "Hand off now",
  text: "The callback gets it now, before the delay after its last attempt ends.",
};

interface MoveButtonProps {
  kind: Kind;
  eventIds: readonly string[];
  /** Why it cannot be done; undefined when it can. */
  whyNot?: string | undefined;
  /** The events wait for their hand-off. */
  isWaiting?: boolean;
  /** Which events they are, before it is confirmed. */
  about?: string;
  /** Called when the events have been moved, as far as they could be. */
  onMoved?: () => void;
}

/** Asks, then moves the events, and says what became of them. */
export function MoveButton({
  kind,
  eventIds,
  whyNot,
  isWaiting = false,
  about,
  onMoved,
}: MoveButtonProps) {
  const handOver = useMove();
  const { action, text } = isWaiting ? HAND_OFF_NOW : TEXTS[kind];

  async function move(): Promise<Said> {
    const said = await handOver(kind, eventIds);
    onMoved?.();
    return said;
  }

  return (
    <ActionButton
      label={`${action}…`}
      tone={kind === "discard" ? "danger" : undefined}
      whyNot={whyNot}
      confirm={{
        title: `${action} ${formatCount(eventIds.length, "event")}?`,
        text: about === undefined ? text : `${about}. ${text}`,
        action,
      }}
      run={move}
    />
  );
}

async function post(kind: Kind | "retry", eventIds: readonly string[]): Promise<MoveAnswer> {
  return request("POST", `api/${kind}`, { body: { eventIds } });
}

/**
 * Moves events. To replay one that waits is to hand it off now. What became of them is said at once,
 * and later what their hand-offs came to.
 */
export function useMove(): (kind: Kind, eventIds: readonly string[]) => Promise<Said> {
  const { notify } = useRoot();
  return async (kind, eventIds) => {
    const { outcomes } = await post(kind, eventIds);
    const waiting =
      kind === "replay" ? eventIds.filter((_id, index) => outcomes[index] === "wrong_state") : [];
    const retried: MoveAnswer =
      waiting.length === 0 ? { outcomes: [] } : await post("retry", waiting);
    const before = new Map(waiting.map((id, index) => [id, retried.ends?.[index]]));
    const all = outcomes.map((outcome) =>
      outcome === "wrong_state" ? (retried.outcomes.shift() ?? outcome) : outcome,
    );
    const moved = eventIds.filter((_id, index) => all[index] === "moved");
    if (kind === "replay" && moved.length > 1) endsOf(moved, before).then(notify, ignore);
    return { text: summary(kind, all), tone: moved.length === all.length ? "good" : "warn" };
  };
}

/** It is asked for so many at once what came of them, for ten minutes in all. */
const ASKED = 50;
const AGAIN_MS = 1000;
const MOST_TIMES = 600;

/** What the hand-offs came to; `before` has the ends before a retry. */
async function endsOf(keys: readonly string[], before: Map<string, unknown>): Promise<Said> {
  const ended = { done: 0, failed: 0, gone: 0 };
  let open = keys;
  for (let times = 0; times < MOST_TIMES && open.length > 0; times += 1) {
    const asked = open.slice(0, ASKED);
    const query = { ids: asked.join("\0") };
    const answer = await request<End[]>("GET", "api/ends", { query });
    const ends = answer.map((end, index) => {
      if (typeof end !== "number") return end;
      return end === before.get(asked[index] ?? "") ? null : "failed";
    });
    for (const end of ends) if (end !== null) ended[end] += 1;
    // What waits for long keeps no other from being asked for.
    open = [...open.slice(ASKED), ...asked.filter((_id, index) => ends[index] === null)];
    if (ends.includes(null)) await new Promise((resume) => setTimeout(resume, AGAIN_MS));
  }
  const text = `${formatCount(ended.done)} done, ${formatCount(ended.failed)} failed again.`;
  return { text, tone: ended.failed > 0 ? "bad" : "idle" };
}

function summary(kind: Kind, outcomes: readonly ReplayOutcome[]): string {
  const count = (wanted: ReplayOutcome): number =>
    outcomes.filter((outcome) => outcome === wanted).length;
  const reasons: [number, string][] = [
    [count("wrong_state"), TEXTS[kind].wrongState],
    [count("payload_gone"), "payload deleted"],
    [count("still_unusable"), "still not usable"],
    [count("duplicate"), "same as another stored event"],
    [count("not_found"), "no longer stored"],
  ];
  const others = reasons
    .filter(([number]) => number > 0)
    .map(([number, reason]) => `${formatCount(number)} ${reason}`);
  const moved = `${formatCount(count("moved"), "event")} ${TEXTS[kind].moved}.`;
  return others.length === 0 ? moved : `${moved} Not moved: ${others.join(", ")}.`;
}
