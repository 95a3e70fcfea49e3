import type { JSX } from "preact";
import { href, useRoute } from "../../parts/use-route.js";
import { FilterForm } from "../action-form.js";
import { useAnswer, type Delivery } from "../control.js";
import { useDesk } from "../desk.js";
import { Loaded, View } from "../panel.js";
import { DeliveryTable } from "./delivery-table.js";
import { DeliveryView } from "./delivery.js";

/** `#/deliveries` and `#/deliveries/ID`. */
export function Deliveries(): JSX.Element {
  const id = useRoute().path[1];
  return id === undefined ? <DeliveryHistory /> : <DeliveryView id={id} />;
}

const PAGE = 20;
const ALL = ["", "All"] as const;
const STATES: readonly Delivery["state"][] = ["waiting", "sending", "delivered", "failed", "expired", "cancelled"];
const TYPES: readonly Delivery["event_type"][] = ["signal.published", "webhook.test", "webhook.verification"];

function DeliveryHistory(): JSX.Element {
  const { account, now } = useDesk();
  const { account_id } = account;
  const { query } = useRoute();
  const before = query.get("before") ?? "";
  const filter = {
    webhook: query.get("webhook") ?? "",
    state: query.get("state") ?? "",
    type: query.get("type") ?? "",
    event: query.get("event") ?? "",
  };
  const registrations = useAnswer<"listRegistrations">("/registrations", { account_id }).data?.items ?? [];
  const deliveries = useAnswer<"listDeliveries">("/deliveries", {
    account_id,
    registration_id: filter.webhook,
    state: filter.state,
    event_type: filter.type,
    event_id: filter.event,
    before,
    limit: PAGE,
  });
  return (
    <View title="Deliveries">
      <FilterForm
        label="Deliveries"
        path={["deliveries"]}
        values={filter}
        fields={[
          {
            name: "webhook",
            label: "Webhook",
            choices: [ALL, ...registrations.map(({ id, url }) => [id, url] as const)],
          },
          { name: "state", label: "State", choices: [ALL, ...STATES] },
          { name: "type", label: "Type", choices: [ALL, ...TYPES] },
          { name: "event", label: "Event id", type: "search", placeholder: "evt_…", width: "grows" },
        ]}
      />
      <Loaded from={deliveries}>
        {({ items }) => (
          <section class="panel" aria-label="Deliveries">
            <DeliveryTable deliveries={items} now={now} />
            <nav class="toolbar" aria-label="Pages">
              {before !== "" && <a href={href(["deliveries"], filter)}>Newest</a>}
              {items.length === PAGE && (
                <a href={href(["deliveries"], { ...filter, before: String(items.at(-1)?.delivery_id) })}>Older</a>
              )}
            </nav>
          </section>
        )}
      </Loaded>
    </View>
  );
}
