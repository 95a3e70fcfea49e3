import type { Overview } from "../inbox-api.js";
import { formatCount } from "../../../base/text/format.js";
import { href } from "../../parts/use-route.js";
import { STATES } from "./event-state.js";

/** How many events are in each state. Each count is a link to these events. */
export function StateCounts({
  overview,
  search,
}: {
  overview: Overview | undefined;
  search: string;
}) {
  const { counts } = overview ?? {};
  // The other terms of the search stay.
  const others = search.replace(/\bstate:\w+\s*/, "").trim();
  return (
    <nav class="counts" aria-label="Events by state">
      {[{ state: "total", tone: "idle", meaning: "stored" } as const, ...STATES].map(
        ({ state, tone, meaning }) => {
          const query = state === "total" ? "" : `state:${state}`;
          const isCurrent = query === "" ? others === search : search.includes(query);
          const isUrgent = (tone === "bad" || tone === "warn") && (counts?.[state] ?? 0) > 0;
          return (
            <a
              key={state}
              class={isUrgent ? tone : undefined}
              title={meaning}
              href={href([], { q: [query, others].filter(Boolean).join(" ") })}
              aria-current={isCurrent ? "true" : undefined}
            >
              <strong>{counts === undefined ? "…" : formatCount(counts[state])}</strong>{" "}
              {state === "total" ? "all" : state}
            </a>
          );
        },
      )}
    </nav>
  );
}
