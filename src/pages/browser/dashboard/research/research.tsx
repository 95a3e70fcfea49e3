import type { JSX } from "preact";
import { LIMITS } from "../../../../api/limits.js";
import { href, useRoute } from "../../parts/use-route.js";
import { useDesk } from "../desk.js";
import { View } from "../panel.js";
import { Rankings } from "./rankings.js";
import { SearchDemand } from "./search-demand.js";

/** A look at the data, through the REST API with a session token of the account: `#/research` and `#/research/demand`. */
export function Research(): JSX.Element {
  const { account } = useDesk();
  const isDemand = useRoute().path[1] === "demand";
  const tabs = (
    <nav class="tabs" aria-label="Research">
      <a href={href(["research"])} aria-current={isDemand ? undefined : "page"}>
        Rankings
      </a>
      <a href={href(["research", "demand"])} aria-current={isDemand ? "page" : undefined}>
        Search demand
      </a>
    </nav>
  );
  return (
    <View title={isDemand ? "Search demand" : "Rankings"} actions={tabs}>
      {account.tier === "developer" && (
        <p class="hint">
          Each answer here is a counted call: {account.calls_this_month} of {LIMITS.developerCallsPerMonth} are used
          this month. Developer Access gets page 1 alone.
        </p>
      )}
      {isDemand ? <SearchDemand /> : <Rankings />}
    </View>
  );
}
