import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { notify } from "../parts/notice.js";
import { problemText } from "../parts/request.js";
import { go } from "../parts/use-route.js";
import { visible } from "../parts/visible-text.js";
import { Problem } from "./panel.js";

/** A field of a form, as data. */
export interface Field {
  name: string;
  label: string;
  /** Makes it a select, in this order. */
  choices?: readonly (string | readonly [value: string, shown: string])[];
  /** Completes what is typed. */
  suggestions?: readonly string[];
  /** @default "text" */
  type?: "text" | "password" | "number" | "url" | "search" | "datetime-local";
  /** What it has at first. */
  value?: string;
  placeholder?: string;
  isRequired?: boolean;
  width?: "grows" | "short";
}

/** The field of a language that the service has. */
export const LOCALE: Field = {
  name: "locale",
  label: "Language",
  choices: [
    ["en", "English"],
    ["zh-CN", "Chinese"],
  ],
};

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
export function ActionForm({ fields, action, run, children }: ActionFormProps): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setProblem("");
    try {
      notify(await run(valuesOf(form), new FormData(form)));
    } catch (error) {
      setProblem(problemText(error));
    }
    setBusy(false);
  }

  const button = (
    <button class="primary" disabled={isBusy}>
      {action}
    </button>
  );
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <div class="toolbar fields">
        <Fields fields={fields} />
        {children === undefined && button}
      </div>
      {children}
      <Problem text={problem} />
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
export function FilterForm({ label, fields, path, values }: FilterFormProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  const show = (event: Event): void => {
    event.preventDefault();
    if (form.current !== null) go(path, valuesOf(form.current), "replace");
  };
  // Only another address changes what the reader has put into the fields.
  useLayoutEffect(() => {
    for (const { name } of fields) {
      const control = form.current?.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;
      control.value = values[name] ?? "";
    }
  }, [JSON.stringify(values)]);
  return (
    <form ref={form} class="toolbar fields" role="search" aria-label={label} onChange={show} onSubmit={show}>
      <Fields fields={fields.map((field) => ({ ...field, value: values[field.name] ?? "" }))} />
    </form>
  );
}

function Fields({ fields }: { fields: readonly Field[] }): JSX.Element {
  const id = useId();
  return (
    <>
      {fields.map(
        ({ name, label, choices, suggestions, type = "text", value, placeholder, isRequired, width = "" }) => (
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
                  <option key={each} value={each} />
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
  const given = [...new FormData(form)].filter((each): each is [string, string] => typeof each[1] === "string");
  return Object.fromEntries(given.map(([name, value]) => [name, value.trim()]));
}
