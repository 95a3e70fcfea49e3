import { formatUtc } from "../../../base/text/format.js";
import { describeSituation } from "../../../kit/inbox/situation/situation.js";
import type { Overview as InboxOverview } from "../../../page/inbox/inbox-api.js";
import { Facts, href, Panel, Problem, useData, usePage, View } from "../../../page/parts/index.js";
import { LIMITS, rateLimitText } from "../../contract/limits.js";
import { type Account, askInbox, hasInboxPage, useAnswer, useDesk } from "./control.js";
import { DeliveryTable } from "./deliveries.js";

/** @param props.of as it is from the page's own address */
const Address = ({ of }: { of: string }) => (
  <code>{new URL(of, location.href).href.replace(/\/$/, "")}</code>
);

export function Overview() {
  const { account } = useDesk();
  const { now } = usePage();
  const deliveries = useAnswer("listDeliveries", {
    account_id: account.account_id,
    limit: 8,
  });
  const { account_id } = account;
  const registrations = useAnswer("listRegistrations", { account_id });
  const investigations = useAnswer("listInvestigations", { account_id });
  const active = (investigations.data?.items ?? []).filter(({ status }) =>
    ACTIVE.has(status),
  ).length;
  return (
    <View title="Overview" isDense>
      {deliveries.data?.items.length === 0 && (
        <p class="hint">
          First <a href={href(["keys"])}>make an API key</a>,{" "}
          <a href={href(["webhooks"])}>register a webhook</a>, and{" "}
          <a href={href(["signals"])}>follow a product and publish a signal</a> about it.
        </p>
      )}
      {hasInboxPage() && <InboxSituation />}
      <Panel title="Last deliveries" actions={<a href={href(["deliveries"])}>All deliveries</a>}>
        <DeliveryTable from={deliveries} />
      </Panel>
      <div class="halves">
        <Panel title="What runs here">
          <Facts
            of={{
              "REST API": <Address of="../../v1" />,
              "Remote MCP": <Address of="../../mcp" />,
              OpenAPI: <Address of="../../openapi.json" />,
              "Control API": <Address of=".." />,
            }}
          />
        </Panel>
        <Panel title={account.name}>
          <Facts
            of={{
              Tier: account.tier,
              "Calls this month": <Quota account={account} />,
              "Registrations today": `${registeredToday(registrations.data?.items ?? [], now)} of ${LIMITS.registrationsPerDay}`,
              "Active investigations": `${active} of ${LIMITS.activeInvestigations}`,
              "Signals in 24 hours": `at most ${LIMITS.signalsPerDay}`,
              Requests: rateLimitText(),
              Entitlements: account.entitlements,
            }}
          />
        </Panel>
      </div>
    </View>
  );
}

/**
 * What the inbox page says first: a delivery that was answered 200 can still fail in the receiver.
 */
function InboxSituation() {
  const { now } = usePage();
  const { data, problem } = useData("inbox", (signal) =>
    askInbox<InboxOverview>("overview", { signal }),
  );
  return (
    <div class="stack" role="status">
      <Problem of={problem} />
      {(data?.endpoints ?? []).map(({ endpoint, facts }, _index, { length }) => {
        const { level, text } = describeSituation({ ...facts, now: data?.now ?? now });
        return (
          <p key={endpoint} class={`alert ${level === "ok" ? "good" : "bad"}`}>
            <a href="../inbox/">Inbox{length > 1 && ` ${endpoint}`}</a>: {text}
          </p>
        );
      })}
    </div>
  );
}

const ACTIVE: ReadonlySet<string> = new Set(["queued", "running"]);

/** A day of the service is one in UTC. */
const registeredToday = (items: readonly { created_at: string }[], now: number): number =>
  items.filter(({ created_at }) => created_at.slice(0, 10) === formatUtc(now).slice(0, 10)).length;

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
