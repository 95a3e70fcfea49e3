import { type ComponentChildren, Fragment } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Said, useRoot } from "./page-frame.js";
import { Problem } from "./panel.js";
import { problemText } from "./request.js";
import { go } from "./use-route.js";

/** Something that a reader starts. `start` says what came of it, or tells `onProblem`. */
function useAction<Input extends unknown[]>(
  run: (...input: Input) => Promise<Said>,
  onProblem: (problem: string) => void,
): { isBusy: boolean; start: (...input: Input) => Promise<void> } {
  const { notify } = useRoot();
  const [isBusy, setBusy] = useState(false);
  async function start(...input: Input): Promise<void> {
    setBusy(true);
    try {
      notify(await run(...input));
    } catch (error) {
      onProblem(problemText(error));
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, start };
}

/** A field of a form, as data. */
export interface Field {
  name: string;
  label: string;
  /** Makes it a select, in this order. */
  choices?: readonly (string | readonly [value: string, shown: string])[];
  /** Completes what is typed. */
  suggestions?: readonly string[] | undefined;
  /** @default "text" */
  type?: "text" | "password" | "number" | "url" | "search" | "datetime-local";
  /** What it has at first. */
  value?: string;
  placeholder?: string;
  isRequired?: boolean;
  width?: "grows" | "short";
}

/** What the fields have. A field that is empty is left out. */
export type Values = Readonly<Record<string, string>>;

interface ActionFormProps {
  fields: readonly Field[];
  /** The verb on the button. */
  action: string;
  /** @returns what came of it, in words */
  run: (values: Values, data: FormData) => Promise<Said>;
  /** @default "primary" */
  tone?: "primary" | "danger";
  /** Adds a button that does nothing else. */
  onCancel?: () => void;
  /** Between the fields and the button. */
  children?: ComponentChildren;
}

/** Fields and a button that does something with them. It says what came of it, or why it failed. */
export function ActionForm({
  fields,
  action,
  run,
  tone = "primary",
  onCancel,
  children,
}: ActionFormProps) {
  const [problem, setProblem] = useState("");
  const { isBusy, start } = useAction(run, setProblem);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setProblem("");
    void start(valuesOf(form), new FormData(form));
  }

  const button = (
    <button class={tone} disabled={isBusy}>
      {action}
    </button>
  );
  return (
    <form class="stack" onSubmit={submit}>
      {(fields.length > 0 || children === undefined) && (
        <div class="toolbar fields">
          <Fields fields={fields} />
          {children === undefined && button}
        </div>
      )}
      {children}
      <Problem of={problem} />
      {children !== undefined && (
        <div class="toolbar">
          {onCancel !== undefined && (
            <button type="button" onClick={onCancel}>
              Cancel
            </button>
          )}
          {button}
        </div>
      )}
    </form>
  );
}

interface FilterFormProps {
  label: string;
  fields: readonly Field[];
  /** The view that is filtered. */
  path: readonly string[];
  values: Values;
}

/** Shows a view with the values of the fields in its address. */
export function FilterForm({ label, fields, path, values }: FilterFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const show = (event: Event): void => {
    event.preventDefault();
    if (form.current !== null) go(path, valuesOf(form.current), "replace");
  };
  const shown = String(new URLSearchParams(values));
  // Only another address changes what the reader has put into the fields.
  useLayoutEffect(() => {
    for (const [name, value] of new URLSearchParams(shown)) {
      const control = form.current?.elements.namedItem(name);
      if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement)
        control.value = value;
    }
  }, [shown]);
  return (
    <form
      ref={form}
      class="toolbar fields"
      role="search"
      aria-label={label}
      onChange={show}
      onSubmit={show}
    >
      <Fields fields={fields.map((field) => ({ ...field, value: values[field.name] ?? "" }))} />
    </form>
  );
}

function Fields({ fields }: { fields: readonly Field[] }) {
  const id = useId();
  return (
    <>
      {fields.map(
        ({
          name,
          label,
          choices,
          suggestions,
          type = "text",
          value,
          placeholder,
          isRequired,
          width = "",
        }) => (
          <Fragment key={name}>
            <label class={`field ${width}`}>
              <span>{label}</span>
              {choices === undefined ? (
                <input
                  name={name}
                  type={type as "text"}
                  list={suggestions && `${id}-${name}`}
                  defaultValue={value ?? ""}
                  placeholder={placeholder}
                  required={isRequired}
                  autocomplete="off"
                />
              ) : (
                <select name={name}>
                  {choices.map((choice) => {
                    const [each, shown] = typeof choice === "string" ? [choice, choice] : choice;
                    return (
                      <option key={each} value={each} selected={each === value}>
                        {shown}
                      </option>
                    );
                  })}
                </select>
              )}
            </label>
            {suggestions !== undefined && (
              <datalist id={`${id}-${name}`}>
                {suggestions.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </datalist>
            )}
          </Fragment>
        ),
      )}
    </>
  );
}

function valuesOf(form: HTMLFormElement): Values {
  const texts = [...new FormData(form)].filter(([, value]) => typeof value === "string") as [
    string,
    string,
  ][];
  return Object.fromEntries(
    texts.map(([name, text]) => [name, text.trim()]).filter(([, text]) => text !== ""),
  );
}

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
  /** Why it is not allowed. Such a button keeps the focus, which a disabled one loses. */
  whyNot?: string | undefined;
  /** @returns what came of it */
  run: () => Promise<Said>;
}

/** A button that does one thing, and says what came of it. */
export function ActionButton({ label, of, tone, confirm, whyNot, run }: ActionButtonProps) {
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
        aria-disabled={whyNot !== undefined}
        title={whyNot}
        aria-label={of && `${label} ${of}`}
        onClick={whyNot === undefined ? press : undefined}
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

  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      isGone.current = true;
      // The browser gives the focus back only when a dialog is closed.
      shown?.close();
    };
  }, []);

  async function runAndClose(): Promise<Said> {
    const said = await run();
    onClose();
    return said;
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
      <ActionForm
        fields={[]}
        action={action}
        tone={isDanger ? "danger" : "primary"}
        onCancel={onClose}
        run={runAndClose}
      >
        <h2 id={`${id}-title`}>{title}</h2>
        <p id={`${id}-text`}>{text}</p>
      </ActionForm>
    </dialog>
  );
}
