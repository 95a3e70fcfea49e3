import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../../../base/text/format.js";
import { DEFAULT_SENDER, EVENT_STATES, type EventState } from "../../../kit/inbox/stored-events.js";
import { go, href, Problem, useData } from "../../parts/index.js";
import type { ListedEvent, Overview } from "../inbox-api.js";
import { wordOf } from "./event-state.js";
import { countOf, findEvents, termIn, withTerm, wordsOf } from "./find-events.js";

interface SearchBoxProps {
  search: string;
  /** Why the search could not be read. */
  problem: string | undefined;
  children: ComponentChildren;
}

/** The key / puts the focus here, and ? opens the help. */
export function SearchBox({ search, problem, children }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const help = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState(search);
  useEffect(() => setText(search), [search]);

  useKeys(["/", "?"], ({ key }) => {
    // It is hidden behind an event.
    if (input.current?.offsetParent === null) return false;
    if (key === "?" && help.current !== null) help.current.open = !help.current.open;
    if (key === "/") {
      input.current?.focus();
      input.current?.select();
    }
    return true;
  });

  function submit(event: Event): void {
    event.preventDefault();
    go([], { q: text.trim() });
  }

  return (
    <search>
      <form onSubmit={submit}>
        <div class="toolbar">
          <input
            ref={input}
            class="grows"
            type="search"
            aria-label="Search events"
            aria-describedby="search-hint"
            aria-invalid={problem !== undefined}
            placeholder="Search titles, ids, errors, or type: state: …"
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          {children}
          <details ref={help}>
            <summary class="hint">Help</summary>
            <p class="hint" id="search-hint">
              Words, the beginning of an id, or <code>state:dead</code> <code>product:acme</code>{" "}
              <code>error:"timed out"</code> <code>after:2h</code> <code>before:2026-11-01</code>,
              all of which must match. Keys: <kbd>/</kbd> search, <kbd>j</kbd> and <kbd>k</kbd> next
              and previous event, <kbd>x</kbd> select it, <kbd>Enter</kbd> open it, <kbd>Esc</kbd>{" "}
              back, <kbd>?</kbd> this help, and <kbd>←</kbd> <kbd>→</kbd> in the chart.
            </p>
          </details>
        </div>
        <Problem of={problem} />
      </form>
    </search>
  );
}

/**
 * Calls back for these keys, unless the reader types.
 *
 * @param onKey returns whether it has done something, so that the browser does nothing
 */
export function useKeys(keys: readonly string[], onKey: (event: KeyboardEvent) => boolean): void {
  const newest = useRef({ keys, onKey });
  newest.current = { keys, onKey };
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element &&
        event.target.matches("input:not([type=checkbox]), dialog *");
      const isOurs = newest.current.keys.includes(event.key) && !isTyping;
      if (!isOurs || event.ctrlKey || event.metaKey || event.altKey) return;
      if (newest.current.onKey(event)) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

interface FacetsProps {
  search: string;
  /** Those that are shown: their values can be chosen. */
  events: readonly ListedEvent[];
  overview: Overview | undefined;
}

/** Narrows the search to a state, and to a type or subject of the events that are shown. */
export function Facets({ search, events, overview }: FacetsProps) {
  const endpoint = termIn(search, "endpoint");
  const states = EVENT_STATES.map((state) => [state, countOf(overview, state, endpoint)] as const);
  const isOfService = events.every(({ sender }) => sender === DEFAULT_SENDER);
  const facets = [
    ["state", "State", new Map<string, number>(states)],
    ["type", "Type", countsOf(events.map(typeOf))],
    ["subject", isOfService ? "Product" : "Subject", countsOf(events.map(subjectOf))],
  ] as const;
  return (
    <>
      {facets.map(([term, label, counts]) => {
        const chosen = termIn(search, term);
        if (counts.size < 2 && chosen === "") return null;
        const values = new Map([
          ...(chosen === "" || counts.has(chosen) ? [] : [[chosen, 0] as const]),
          ...counts,
        ]);
        return (
          <select
            key={term}
            class="facet"
            aria-label={label}
            value={chosen}
            onChange={({ currentTarget }) =>
              go([], { q: withTerm(search, term, currentTarget.value) })
            }
          >
            <option value="">{label}: all</option>
            {[...values].map(([value, count]) => (
              <option key={value} value={value}>
                {term === "state" ? wordOf(value as EventState) : value}
                {count > 0 && ` (${formatCount(count)}${term === "state" ? "" : " shown"})`}
              </option>
            ))}
          </select>
        );
      })}
    </>
  );
}

/** Of a signal its signal type says more. */
export const typeOf = ({ sender, type, subtype }: ListedEvent): string =>
  sender === DEFAULT_SENDER ? (subtype ?? type) : type;

const subjectOf = ({ subject }: ListedEvent): string => subject ?? "";

/** How often each value is there, the most frequent first. */
export function countsOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  // A search cannot have a quote in a value.
  for (const value of values)
    if (value !== "" && !value.includes('"')) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}

/**
 * Of the newest events that match the rest of the search, so many are looked at for values that
 * were meant.
 */
const LOOKED_AT = 200;
const MOST_SHOWN = 5;
/** A word of its own, or what is looked for by `type:`, `subject:` or `product:`. */
const MEANT = /^(?:(?:sub)?type:|subject:|product:)?([^\s":]{2,})$/i;

/** Says that a search found nothing, and what the reader may have meant. */
export function NoMatch({ search, isWhole }: { search: string; isWhole: boolean }) {
  const words = wordsOf(search);
  const at = words.findLastIndex((word) => MEANT.test(word));
  const text = (MEANT.exec(words[at] ?? "")?.[1] ?? "").toLowerCase();
  const others = words.filter((_word, index) => index !== at).join(" ");
  const { data = [] } = useData(
    search,
    async (signal) =>
      text === "" ? [] : (await findEvents({ search: others }, LOOKED_AT, signal)).events,
    0,
  );
  const valuesOf = { type: data.map(typeOf), subject: data.map(subjectOf) };
  const meant = (["type", "subject"] as const).flatMap((term) =>
    [...countsOf(valuesOf[term]).keys()]
      .filter((value) => value.toLowerCase().includes(text) && value.toLowerCase() !== text)
      .map((value) => [`${term}:${value}`, withTerm(others, term, value)] as const),
  );
  return (
    <div class="stack empty">
      <p>
        {isWhole ? "No event matches. " : "No event found so far. "}
        <a href={href([])}>Show all events</a>
      </p>
      {meant.length > 0 && (
        <p>
          Did you mean{" "}
          {meant.slice(0, MOST_SHOWN).map(([shown, query], index) => (
            <span key={shown}>
              {index > 0 && ", "}
              <a href={href([], { q: query })}>{shown}</a>
            </span>
          ))}
          ?
        </p>
      )}
    </div>
  );
}
