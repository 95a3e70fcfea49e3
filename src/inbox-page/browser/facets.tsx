import { DEFAULT_SENDER } from "../../inbox/stored-events.js";
import type { ListedEvent, Overview } from "../inbox-api.js";
import { go } from "../../browser-parts/use-route.js";
import { visible } from "../../text/visible-text.js";

interface FacetsProps {
  search: string;
  /** Those that are shown: their values can be chosen. */
  events: readonly ListedEvent[];
  overview: Overview | undefined;
}

/** Narrows the search to one endpoint, type or subject of the events that are shown. */
export function Facets({ search, events, overview }: FacetsProps) {
  const endpoints = overview?.endpoints.map(({ endpoint }) => endpoint) ?? [];
  const isOfService = events.every(({ sender }) => sender === DEFAULT_SENDER);
  const facets = [
    ["endpoint", "Endpoint", countsOf(endpoints.length > 1 ? events.map(({ endpoint }) => endpoint) : [], endpoints)],
    ["type", "Type", countsOf(events.map(({ type, subtype }) => subtype ?? type))],
    ["subject", isOfService ? "Product" : "Subject", countsOf(events.map(({ subject }) => subject ?? ""))],
  ] as const;
  return (
    <>
      {facets.map(([term, label, counts]) => {
        const chosen = termIn(search, term);
        if (counts.size < 2 && chosen === "") return null;
        const values = new Map([...(chosen === "" || counts.has(chosen) ? [] : [[chosen, 0] as const]), ...counts]);
        return (
          <select
            key={term}
            class="facet"
            aria-label={label}
            value={chosen}
            onChange={({ currentTarget }) => go([], { q: withTerm(search, term, currentTarget.value) })}
          >
            <option value="">{label}: all</option>
            {[...values].map(([value, count]) => (
              <option key={value} value={value}>
                {visible(value)}
                {count > 0 && ` (${count} shown)`}
              </option>
            ))}
          </select>
        );
      })}
    </>
  );
}

/** How often each value is there, the most frequent first. */
function countsOf(values: readonly string[], known: readonly string[] = []): Map<string, number> {
  const counts = new Map(known.map((value) => [value, 0]));
  for (const value of values) if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}

const NAMES = { endpoint: "endpoint", type: "type", subject: "(?:subject|product)" } as const;
type Term = keyof typeof NAMES;

const formOf = (term: Term): RegExp => new RegExp(`(?:^|\\s)${NAMES[term]}:(?:"([^"]*)"|(\\S+))`, "i");

function termIn(search: string, term: Term): string {
  const [, quoted, plain = ""] = formOf(term).exec(search) ?? [];
  return quoted ?? plain;
}

/** The search with this term, or without it when the value is empty. */
export function withTerm(search: string, term: Term, value: string): string {
  const others = search.replace(formOf(term), "").trim();
  return [others, value === "" ? "" : `${term}:${/\s/.test(value) ? `"${value}"` : value}`].filter(Boolean).join(" ");
}
