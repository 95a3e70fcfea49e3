import { useEffect } from "preact/hooks";
import {
  ActionButton,
  Facts,
  href,
  List,
  Moment,
  Panel,
  Problem,
  State,
  type Tone,
  useRoute,
  View,
} from "../../../page/parts/index.js";
import { change, control, type Registration, useAnswer, useDesk } from "./control.js";
import { Attempts, DeliveryTable, webhookName } from "./deliveries.js";
import { ShownOnce } from "./keys.js";
import { Edit, Register } from "./registration-form.js";

/** `#/webhooks`, `#/webhooks/new`, `#/webhooks/ID` and `#/webhooks/ID/edit`. */
export function Webhooks() {
  const [, id, step] = useRoute().path;
  if (id === undefined) return <RegistrationList />;
  if (id === "new") return <Register />;
  return step === "edit" ? <Edit id={id} /> : <RegistrationView id={id} />;
}

function RegistrationList() {
  const { account } = useDesk();
  const registrations = useAnswer("listRegistrations", {
    account_id: account.account_id,
  });
  const register = (
    <a class="button primary" href={href(["webhooks", "new"])}>
      Register a webhook
    </a>
  );
  return (
    <View title="Webhooks" isDense>
      <Panel title={`Webhooks of ${account.name}`} actions={register}>
        <List
          label="Webhooks"
          empty="This account has no webhook yet. Signals about the products that it follows are sent to its webhooks."
          from={registrations}
          isReversed
          keyOf="id"
          columns={[
            {
              label: "Endpoint",
              look: "grows",
              cell: (row) => <a href={href(["webhooks", row.id])}>{webhookName(row)}</a>,
            },
            { label: "Status", cell: StatusOf },
            { label: "Types", look: "end", cell: ({ signal_types }) => signal_types.length },
            { label: "Language", cell: "locale" },
            { label: "Failures", look: "end", cell: "failure_count" },
            { label: "Created", cell: "created_at" },
          ]}
        />
      </Panel>
    </View>
  );
}

const TONES: Readonly<Record<Registration["status"], Tone>> = {
  pending: "busy",
  active: "good",
  paused: "warn",
  deleted: "idle",
};

const StatusOf = ({ status }: Pick<Registration, "status">) => (
  <State tone={TONES[status]}>{status}</State>
);

/** What can be done in each state, and what is said then. */
const STEPS: Partial<Record<Registration["status"], readonly (readonly [Step, string, string])[]>> =
  {
    pending: [["verifyRegistration", "Verify again", "A verification is sent."]],
    active: [
      ["sendTestEvent", "Send a test event", "A test event is sent."],
      ["pauseRegistration", "Pause", "Paused. It gets no new signals."],
    ],
    paused: [["resumeRegistration", "Resume", "Active again. What waits is sent."]],
  };
type Step = "verifyRegistration" | "sendTestEvent" | "pauseRegistration" | "resumeRegistration";

function RegistrationView({ id }: { id: string }) {
  const named = { registration_id: id };
  const registration = useAnswer("readRegistration", named);
  const deliveries = useAnswer("listDeliveries", { ...named, limit: 10 });
  const { newSecret, setNewSecret } = useDesk();
  // A reader who leaves this view has seen it.
  useEffect(() => () => setNewSecret(null), [setNewSecret]);
  const { data, problem } = registration;
  if (data === undefined) {
    return (
      <View title="Webhook">
        <Problem of={problem} />
      </View>
    );
  }

  const { url, status, locale, signal_types, failure_count, created_at } = data;
  async function rotate(): Promise<string> {
    const { signing_secret = "" } = await control.rotateSecret(named);
    setNewSecret({ registrationId: id, secret: signing_secret });
    return "The secret is rotated. The previous one signs nothing from now on.";
  }

  const actions = status !== "deleted" && (
    <>
      <a class="button" href={href(["webhooks", id, "edit"])}>
        Edit
      </a>
      {STEPS[status]?.map(([step, label, said]) => (
        <ActionButton key={step} label={label} run={() => change(said, control[step](named))} />
      ))}
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
        run={() => change("The webhook is deleted.", control.deleteRegistration(named))}
      />
    </>
  );
  const verification = deliveries.data?.items.find(
    ({ event_type }) => event_type === "webhook.verification",
  );

  return (
    <View title={url} actions={actions}>
      <Problem of={problem} />
      {newSecret?.registrationId === id && (
        <ShownOnce
          label="The signing secret"
          secret={newSecret.secret}
          text="Your receiver verifies its deliveries with it, the first verification too."
          onClose={() => setNewSecret(null)}
        />
      )}
      <Panel title="Webhook">
        <Facts
          of={{
            Status: <StatusOf status={status} />,
            Id: <code>{id}</code>,
            "Failures in a row": failure_count,
            Language: locale,
            Created: <Moment at={created_at} full />,
            "Signal types": <code>{signal_types.join(", ")}</code>,
          }}
        />
      </Panel>
      {status === "pending" && verification !== undefined && (
        <Panel title="Handshake">
          <p class="muted">
            The webhook is active once the endpoint has answered its verification with a 2xx and the
            challenge of the event.
          </p>
          <Attempts key={verification.delivery_id} delivery={verification} />
        </Panel>
      )}
      <Panel
        title="Latest deliveries"
        actions={<a href={href(["deliveries"], { registration_id: id })}>All of them</a>}
      >
        <DeliveryTable from={deliveries} />
      </Panel>
    </View>
  );
}
