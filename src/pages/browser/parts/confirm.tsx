import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { problemText } from "./request.js";

interface ConfirmProps {
  title: string;
  /** What will happen, and whether it can be undone. */
  text: ComponentChildren;
  /** The verb on the button. */
  action: string;
  danger?: boolean;
  /** The dialog stays open until it resolves; if it rejects, the dialog shows why. */
  onConfirm: () => void | Promise<void>;
  onClose: () => void;
}

/** Asks before something is done. Render it while the question is open. */
export function Confirm({ title, text, action, danger = false, onConfirm, onClose }: ConfirmProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isGone = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");

  useLayoutEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // Nothing behind an open dialog takes the focus, and the browser gives it back only when the dialog is closed.
      isGone.current = true;
      shown?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  async function confirm(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(problemText(error));
      setBusy(false);
    }
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
      <form onSubmit={(event) => void confirm(event)}>
        <h2 id={`${id}-title`}>{title}</h2>
        <div id={`${id}-text`}>{text}</div>
        {problem !== "" && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="toolbar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button class={danger ? "danger" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
