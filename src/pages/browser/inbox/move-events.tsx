import type { JSX } from "preact";
import type { ReplayOutcome } from "../../../inbox/stored-events.js";
import type { MoveAnswer } from "../../inbox-page/inbox-api.js";
import { Confirm } from "../parts/confirm.js";
import { formatCount } from "../parts/format.js";
import { notify } from "../parts/notice.js";
import { request } from "../parts/request.js";

export interface Move {
  kind: "replay" | "discard";
  eventIds: readonly string[];
}

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
  kind: Move["kind"];
  isAllowed: boolean;
  onClick: () => void;
}

/** A button that keeps the focus when the events may not be moved any more, which a disabled one loses. */
export function MoveButton({ kind, isAllowed, onClick }: MoveButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={kind === "discard" ? "danger" : undefined}
      aria-disabled={!isAllowed}
      onClick={isAllowed ? onClick : undefined}
    >
      {TEXTS[kind].action}…
    </button>
  );
}

interface MoveDialogProps {
  move: Move;
  /** Called when the events have been moved, as far as they could be. */
  onMoved?: () => void;
  onClose: () => void;
}

/** Asks, then moves the events, and says what became of them. */
export function MoveDialog({ move: { kind, eventIds }, onMoved, onClose }: MoveDialogProps): JSX.Element {
  async function moveAll(): Promise<void> {
    const { outcomes } = await request<MoveAnswer>("POST", `api/${kind}`, { body: { eventIds } });
    notify(summary(kind, outcomes), outcomes.every((outcome) => outcome === "moved") ? "good" : "warn");
    onMoved?.();
  }

  return (
    <Confirm
      title={`${TEXTS[kind].action} ${formatCount(eventIds.length, "event")}?`}
      text={TEXTS[kind].text}
      action={TEXTS[kind].action}
      danger={kind === "discard"}
      onConfirm={moveAll}
      onClose={onClose}
    />
  );
}

function summary(kind: Move["kind"], outcomes: readonly ReplayOutcome[]): string {
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
