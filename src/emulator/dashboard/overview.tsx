import { LIMITS } from "../../api/limits.js";
import { formatUtc } from "../../text/format.js";
import { usePage, View } from "../../browser-parts/page-frame.js";
import { Facts, Panel } from "../../browser-parts/panel.js";
import { href } from "../../browser-parts/use-route.js";
import { visible } from "../../text/visible-text.js";
import { type Account, useAnswer, useDesk } from "./control.js";
import { DeliveryTable } from "./deliveries.js";

const ADDRESSES = [
  ["REST API", "../../v1"],
  ["Remote MCP", "../../mcp"],
  ["OpenAPI", "../../openapi.json"],
  ["Control API", ".."],
] as const;

export function Overview() {
  const { account } = useDesk();
  const { now } = usePage();
  const deliveries = useAnswer<"listDeliveries">("/deliveries", { account_id: account.account_id, limit: 8 });
  return (
    <View title="Overview">
      {deliveries.data?.items.length === 0 && (
        <p class="hint">
          First <a href={href(["keys"])}>make an API key</a>, <a href={href(["webhooks"])}>register a webhook</a>, and{" "}
          <a href={href(["signals"])}>follow a product and publish a signal</a> about it.
        </p>
      )}
      <div class="halves">
        <Panel title="What runs here">
          <Facts
            rows={ADDRESSES.map(([name, path]) => [
              name,
              <code key={name}>{new URL(path, location.href).href.replace(/\/$/, "")}</code>,
            ])}
          />
        </Panel>
        <Panel title={visible(account.name)}>
          <Facts
            rows={[
              ["Tier", account.tier],
              ["Calls this month", <Quota key="quota" account={account} />],
              ["Time of the service", formatUtc(now)],
            ]}
          />
        </Panel>
      </div>
      <Panel title="Last deliveries" actions={<a href={href(["deliveries"])}>All deliveries</a>}>
        <DeliveryTable from={deliveries} />
      </Panel>
    </View>
  );
}

/** Only Developer Access has a quota, and only its calls are counted. */
function Quota({ account }: { account: Account }) {
  if (account.tier !== "developer") return <>not counted: no quota</>;
  const limit = LIMITS.developerCallsPerMonth;
  const used = account.calls_this_month;
  return (
    <span class="toolbar">
      {used} of {limit}
      <meter aria-label="Calls this month" min={0} max={limit} high={limit - 10} value={used} />
    </span>
  );
}
