import type { ReplayOutcome } from "../../inbox/stored-events.js";
import type { MoveAnswer } from "../inbox-api.js";
import { ActionButton } from "../../browser-parts/action-button.js";
import { formatCount } from "../../text/format.js";
import type { Said } from "../../browser-parts/page-root.js";
import { request } from "../../browser-parts/request.js";

type Kind = "replay" | "discard";

const TEXTS = {
  replay: {
    action: "Replay",
    text: "The callback gets each of them again. One that was done before may repeat its work.",
    moved: "will be handed off again",
    wrongState: "waiting or running already",
  },
  discard: {
    action: "Discard",
    text: "The payload of each is deleted, which cannot be undone. Its id stays known, so that it is not accepted again.",
    moved: "discarded",
    wrongState: "neither dead nor quarantined",
  },
} as const;

interface MoveButtonProps {
  kind: Kind;
  eventIds: readonly string[];
  isAllowed: boolean;
  /** Called when the events have been moved, as far as they could be. */
  onMoved?: () => void;
}

/** Asks, then moves the events, and says what became of them. */
export function MoveButton({ kind, eventIds, isAllowed, onMoved }: MoveButtonProps) {
  const { action, text } = TEXTS[kind];

  async function move(): Promise<Said> {
    const { outcomes } = await request<MoveAnswer>("POST", `api/${kind}`, { body: { eventIds } });
    onMoved?.();
    const tone = outcomes.every((outcome) => outcome === "moved") ? "good" : "warn";
    return { text: summary(kind, outcomes), tone };
  }

  return (
    <ActionButton
      label={`${action}…`}
      tone={kind === "discard" ? "danger" : undefined}
      isAllowed={isAllowed}
      confirm={{ title: `${action} ${formatCount(eventIds.length, "event")}?`, text, action }}
      run={move}
    />
  );
}

function summary(kind: Kind, outcomes: readonly ReplayOutcome[]): string {
  const count = (wanted: ReplayOutcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  const reasons: [number, string][] = [
    [count("wrong_state"), TEXTS[kind].wrongState],
    [count("payload_gone"), "payload deleted"],
    [count("still_unusable"), "still not usable"],
    [count("duplicate"), "same as another stored event"],
    [count("not_found"), "no longer stored"],
  ];
  const others = reasons.filter(([number]) => number > 0).map(([number, reason]) => `${formatCount(number)} ${reason}`);
  const moved = `${formatCount(count("moved"), "event")} ${TEXTS[kind].moved}.`;
  return others.length === 0 ? moved : `${moved} Not moved: ${others.join(", ")}.`;
}
