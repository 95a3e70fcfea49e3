import type { JSX } from "preact";
import { CodeBlock } from "../../parts/code-block.js";
import { Moment } from "../../parts/moment.js";
import { go, href } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { ActionButton } from "../action-button.js";
import { control, useAnswer, type Answer, type Delivery } from "../control.js";
import { useDesk } from "../desk.js";
import { Facts, Loaded, Panel, View } from "../panel.js";
import { Attempts } from "./attempts.js";
import { DeliveryState } from "./delivery-table.js";

export function DeliveryView({ id }: { id: string }): JSX.Element {
  const path = `/deliveries/${encodeURIComponent(id)}`;
  const delivery = useAnswer<"readDelivery">(path);

  async function redeliver(): Promise<string> {
    const { delivery_id } = await control<Answer<"redeliver">>("POST", `${path}/redeliver`);
    go(["deliveries", String(delivery_id)]);
    return `The event is sent again, with delivery #${delivery_id}.`;
  }

  return (
    <View title={`Delivery #${visible(id)}`} actions={<ActionButton label="Redeliver" run={redeliver} />}>
      <Loaded from={delivery}>{(data) => <Details delivery={data} />}</Loaded>
    </View>
  );
}

function Details({ delivery }: { delivery: Delivery }): JSX.Element {
  const { now } = useDesk();
  const { registration_id, event_id, event_type, created_at, expires_at, redelivery_of, attempts } = delivery;
  // It is the same in each attempt.
  const body = attempts[0]?.request.body;
  return (
    <>
      <Panel title="Delivery">
        <Facts
          rows={[
            ["State", <DeliveryState key="state" delivery={delivery} now={now} />],
            ["Type", event_type],
            ["Event", link(["events", event_id])],
            ["Webhook", link(["webhooks", registration_id])],
            redelivery_of !== null && ["Repeats", link(["deliveries", String(redelivery_of)])],
            ["Made", <Moment key="made" at={Date.parse(created_at)} now={now} full />],
            ["Can be sent until", <Moment key="end" at={Date.parse(expires_at)} now={now} full />],
          ]}
        />
      </Panel>
      <Panel title="Attempts">
        <Attempts delivery={delivery} now={now} />
        {body !== undefined && <CodeBlock label="Request body" text={body} wrap />}
      </Panel>
    </>
  );
}

const link = (path: readonly [string, string]): JSX.Element => <a href={href(path)}>{visible(path[1])}</a>;
