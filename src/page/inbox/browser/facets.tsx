import { DEFAULT_SENDER } from "../../../kit/inbox/stored-events.js";
import type { ListedEvent, Overview } from "../inbox-api.js";
import { go } from "../../parts/use-route.js";
import { visible } from "../../../base/text/visible-text.js";
import { termIn, withTerm } from "./search-terms.js";

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
    [
      "endpoint",
      "Endpoint",
      countsOf(endpoints.length > 1 ? events.map(({ endpoint }) => endpoint) : [], endpoints),
    ],
    ["type", "Type", countsOf(events.map(typeOf))],
    [
      "subject",
      isOfService ? "Product" : "Subject",
      countsOf(events.map(({ subject }) => subject ?? "")),
    ],
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

/** Of a signal its signal type says more. */
export const typeOf = ({ sender, type, subtype }: ListedEvent): string =>
  sender === DEFAULT_SENDER ? (subtype ?? type) : type;

/** How often each value is there, the most frequent first. */
function countsOf(values: readonly string[], known: readonly string[] = []): Map<string, number> {
  const counts = new Map(known.map((value) => [value, 0]));
  // A search cannot have a quote in a value.
  for (const value of values)
    if (value !== "" && !value.includes('"')) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}
