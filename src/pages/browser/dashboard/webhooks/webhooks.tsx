import type { JSX } from "preact";
import { formatCount } from "../../parts/format.js";
import { Moment } from "../../parts/moment.js";
import { href, useRoute } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { useAnswer } from "../control.js";
import { useDesk } from "../desk.js";
import { List, Loaded, Panel, View } from "../panel.js";
import { Register } from "./register.js";
import { RegistrationView, StatusBadge } from "./registration.js";

/** `#/webhooks`, `#/webhooks/new` and `#/webhooks/ID`. */
export function Webhooks(): JSX.Element {
  const id = useRoute().path[1];
  if (id === undefined) return <RegistrationList />;
  return id === "new" ? <Register /> : <RegistrationView id={id} />;
}

function RegistrationList(): JSX.Element {
  const { account, now } = useDesk();
  const registrations = useAnswer<"listRegistrations">("/registrations", { account_id: account.account_id });
  const register = (
    <a class="button primary" href={href(["webhooks", "new"])}>
      Register a webhook
    </a>
  );
  return (
    <View title="Webhooks" actions={register}>
      <Panel title={`Webhooks of ${visible(account.name)}`}>
        <Loaded from={registrations}>
          {({ items }) => (
            <List
              label="Webhooks"
              empty="This account has no webhook yet. Signals about the products that it follows are sent to its webhooks."
              rows={items.toReversed()}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: "Endpoint",
                  grows: true,
                  cell: ({ id, url }) => <a href={href(["webhooks", id])}>{visible(url)}</a>,
                },
                { label: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
                { label: "Types", align: "end", cell: ({ signal_types }) => formatCount(signal_types.length) },
                { label: "Language", cell: ({ locale }) => locale },
                { label: "Failures", align: "end", cell: ({ failure_count }) => formatCount(failure_count) },
                { label: "Made", cell: ({ created_at }) => <Moment at={Date.parse(created_at)} now={now} /> },
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </View>
  );
}
