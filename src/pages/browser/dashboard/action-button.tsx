import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Confirm } from "../parts/confirm.js";
import { notify } from "../parts/notice.js";
import { problemText } from "../parts/request.js";

interface ActionButtonProps {
  /** The verb. */
  label: string;
  /** What it is done to, for a screen reader, where several buttons have the same verb. */
  of?: string;
  tone?: "primary" | "danger" | "plain";
  /** Asks this before. */
  confirm?: { title: string; text: string };
  /** @returns what came of it, in words */
  run: () => Promise<string>;
}

/** A button that does one thing, and says what came of it. */
export function ActionButton({ label, of, tone, confirm, run }: ActionButtonProps): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);

  async function runNow(): Promise<void> {
    setBusy(true);
    try {
      notify(await run());
    } catch (error) {
      notify(problemText(error), "bad");
    }
    setBusy(false);
  }

  return (
    <>
      <button
        type="button"
        class={tone}
        disabled={isBusy}
        aria-label={of && `${label} ${of}`}
        onClick={() => (confirm === undefined ? void runNow() : setAsking(true))}
      >
        {label}
      </button>
      {isAsking && confirm !== undefined && (
        <Confirm
          {...confirm}
          action={label}
          danger={tone === "danger"}
          onConfirm={async () => notify(await run())}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
