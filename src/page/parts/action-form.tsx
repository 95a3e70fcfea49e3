import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./panel.js";
import { useAction } from "./use-action.js";
import { go } from "./use-route.js";
import { visible } from "../../base/text/visible-text.js";

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
  run: (values: Values, data: FormData) => Promise<string>;
  /** Between the fields and the button. */
  children?: ComponentChildren;
}

/** Fields and a button that does something with them. It says what came of it, or why it failed. */
export function ActionForm({ fields, action, run, children }: ActionFormProps) {
  const [problem, setProblem] = useState("");
  const { isBusy, start } = useAction(run, setProblem);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setProblem("");
    void start(valuesOf(form), new FormData(form));
  }

  const button = (
    <button class="primary" disabled={isBusy}>
      {action}
    </button>
  );
  return (
    <form class="stack" onSubmit={submit}>
      <div class="toolbar fields">
        <Fields fields={fields} />
        {children === undefined && button}
      </div>
      {children}
      <Problem of={problem} />
      {children !== undefined && <div class="toolbar">{button}</div>}
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
          <label key={name} class={`field ${width}`}>
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
                      {visible(shown)}
                    </option>
                  );
                })}
              </select>
            )}
            {suggestions !== undefined && (
              <datalist id={`${id}-${name}`}>
                {suggestions.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </datalist>
            )}
          </label>
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
