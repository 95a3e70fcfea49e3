import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Said, useRoot } from "./page-root.js";
import { Problem } from "./panel.js";
import { useAction } from "./use-action.js";

interface ActionButtonProps {
  /** The verb. */
  label: string;
  /** What it is done to, for a screen reader, where several buttons have the same verb. */
  of?: string;
  tone?: "primary" | "danger" | "plain" | undefined;
  /**
   * Asks this before: what will happen, and whether it can be undone. `action` is the verb on the
   * button there. @default label
   */
  confirm?: { title: string; text: string; action?: string };
  /** A button that is not allowed keeps the focus, which a disabled one loses. @default true */
  isAllowed?: boolean;
  /** Why it is not allowed. */
  whyNot?: string | undefined;
  /** @returns what came of it */
  run: () => Promise<Said>;
}

/** A button that does one thing, and says what came of it. */
export function ActionButton({
  label,
  of,
  tone,
  confirm,
  isAllowed = true,
  whyNot,
  run,
}: ActionButtonProps) {
  const { notify } = useRoot();
  const [isAsking, setAsking] = useState(false);
  const { isBusy, start } = useAction(run, (problem) => notify({ text: problem, tone: "bad" }));
  const press = (): void => (confirm === undefined ? void start() : setAsking(true));
  return (
    <>
      <button
        type="button"
        class={tone}
        disabled={isBusy}
        aria-disabled={!isAllowed}
        title={whyNot}
        aria-label={of && `${label} ${of}`}
        onClick={isAllowed ? press : undefined}
      >
        {label}
      </button>
      {isAsking && confirm !== undefined && (
        <Confirm
          action={label}
          {...confirm}
          isDanger={tone === "danger"}
          run={run}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface ConfirmProps {
  title: string;
  text: ComponentChildren;
  action: string;
  isDanger: boolean;
  /** The dialog stays open until it resolves; if it rejects, the dialog shows why. */
  run: () => Promise<Said>;
  onClose: () => void;
}

function Confirm({ title, text, action, isDanger, run, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isGone = useRef(false);
  const [problem, setProblem] = useState("");
  const { isBusy, start } = useAction(run, setProblem);

  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      isGone.current = true;
      // The browser gives the focus back only when a dialog is closed.
      shown?.close();
    };
  }, []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setProblem("");
    if (await start()) onClose();
  }

  /** The browser tells of a closed dialog later, when this one may be gone and another one open. */
  function close(event: Event): void {
    event.preventDefault();
    if (!isGone.current) onClose();
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onCancel={close}
      onClose={close}
    >
      <form onSubmit={(event) => void submit(event)}>
        <h2 id={`${id}-title`}>{title}</h2>
        <p id={`${id}-text`}>{text}</p>
        <Problem of={problem} />
        <div class="toolbar">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button class={isDanger ? "danger" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
