import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Badge, type Tone } from "../../parts/badge.js";
import { formatCount } from "../../parts/format.js";
import { Moment } from "../../parts/moment.js";
import { href } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { ActionButton } from "../action-button.js";
import { control, useAnswer, type Answer, type Registration } from "../control.js";
import { Attempts } from "../deliveries/attempts.js";
import { DeliveryTable } from "../deliveries/delivery-table.js";
import { useDesk } from "../desk.js";
import { Facts, Loaded, Panel, Problem, View } from "../panel.js";
import { ShownOnce } from "../shown-once.js";
import { takeNewSecret } from "./register.js";

const TONES: Readonly<Record<Registration["status"], Tone>> = {
  pending: "busy",
  active: "good",
  paused: "warn",
  deleted: "idle",
};

export function StatusBadge({ status }: Pick<Registration, "status">): JSX.Element {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}

export function RegistrationView({ id }: { id: string }): JSX.Element {
  const { now } = useDesk();
  const path = `/registrations/${encodeURIComponent(id)}`;
  const { data, problem, reload } = useAnswer<"readRegistration">(path);
  const deliveries = useAnswer<"listDeliveries">("/deliveries", { registration_id: id, limit: 10 });
  const [secret, setSecret] = useState(() => takeNewSecret(id));
  if (data === undefined) {
    return (
      <View title="Webhook">
        <Problem text={problem} />
      </View>
    );
  }

  const { url, status, locale, signal_types, failure_count, created_at } = data;
  const does = (step: string, done: string) => async (): Promise<string> => {
    await control("POST", `${path}/${step}`);
    reload();
    return done;
  };

  async function rotate(): Promise<string> {
    const { signing_secret = "" } = await control<Answer<"rotateSecret">>("POST", `${path}/rotate`);
    setSecret(signing_secret);
    return "The secret is rotated. The previous one signs nothing from now on.";
  }

  async function remove(): Promise<string> {
    await control("DELETE", path);
    reload();
    return "The webhook is deleted.";
  }

  const actions = status !== "deleted" && (
    <>
      {status === "pending" && <ActionButton label="Verify again" run={does("verify", "A verification is sent.")} />}
      {status === "active" && <ActionButton label="Send a test event" run={does("test", "A test event is sent.")} />}
      {status === "active" && <ActionButton label="Pause" run={does("pause", "Paused. It gets no new signals.")} />}
      {status === "paused" && <ActionButton label="Resume" run={does("resume", "Active again. What waits is sent.")} />}
      <ActionButton
        label="Rotate the secret"
        confirm={{
          title: "Rotate the signing secret?",
          text: "The service signs with the new secret from this moment, so a receiver that has only the old one refuses its deliveries.",
        }}
        run={rotate}
      />
      <ActionButton
        label="Delete"
        tone="danger"
        confirm={{
          title: "Delete this webhook?",
          text: "Its waiting deliveries are cancelled. This cannot be undone.",
        }}
        run={remove}
      />
    </>
  );
  const verification = deliveries.data?.items.find(({ event_type }) => event_type === "webhook.verification");

  return (
    <View title={visible(url)} actions={actions}>
      <Problem text={problem} />
      {secret !== "" && (
        <ShownOnce
          label="The signing secret"
          secret={secret}
          text="Your receiver verifies its deliveries with it, the first verification too."
          onClose={() => setSecret("")}
        />
      )}
      <Panel title="Webhook">
        <Facts
          rows={[
            ["Status", <StatusBadge key="status" status={status} />],
            ["Id", <code key="id">{id}</code>],
            ["Failures in a row", formatCount(failure_count)],
            ["Language", locale],
            ["Made", <Moment key="made" at={Date.parse(created_at)} now={now} full />],
            ["Signal types", <code key="types">{visible(signal_types.join(", "))}</code>],
          ]}
        />
      </Panel>
      {status === "pending" && verification !== undefined && (
        <Panel title="Handshake">
          <p class="muted">
            The webhook is active once the endpoint has answered its verification with a 2xx and the challenge of the
            event.
          </p>
          <Attempts key={verification.delivery_id} delivery={verification} now={now} />
        </Panel>
      )}
      <Panel title="Latest deliveries" actions={<a href={href(["deliveries"], { webhook: id })}>All of them</a>}>
        <Loaded from={deliveries}>{({ items }) => <DeliveryTable deliveries={items} now={now} />}</Loaded>
      </Panel>
    </View>
  );
}
