import { useData } from "../../parts/use-data.js";
import { href } from "../../parts/use-route.js";
import { visible } from "../../../base/text/visible-text.js";
import { typeOf } from "./facets.js";
import { findEvents } from "./find-events.js";
import { withTerm, wordsOf } from "./search-terms.js";

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
  const { data = [] } = useData(search, async (signal) =>
    text === "" ? [] : (await findEvents({ search: others }, LOOKED_AT, signal)).events,
  );
  const meant = new Map<string, string>();
  for (const event of data) {
    const values = [["type", typeOf(event)] as const, ["subject", event.subject ?? ""] as const];
    for (const [term, value] of values)
      if (
        value.toLowerCase().includes(text) &&
        value.toLowerCase() !== text &&
        !value.includes('"')
      )
        meant.set(`${term}:${value}`, withTerm(others, term, value));
  }
  return (
    <div class="stack empty">
      <p>
        {isWhole ? "No event matches. " : "No event found so far. "}
        <a href={href([])}>Show all events</a>
      </p>
      {meant.size > 0 && (
        <p>
          Did you mean{" "}
          {[...meant].slice(0, MOST_SHOWN).map(([shown, query], index) => (
            <span key={shown}>
              {index > 0 && ", "}
              <a href={href([], { q: query })}>{visible(shown)}</a>
            </span>
          ))}
          ?
        </p>
      )}
    </div>
  );
}
