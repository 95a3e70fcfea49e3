import { useState } from "preact/hooks";
import { ActionButton } from "../../browser-parts/action-button.js";
import { FilterForm } from "../../browser-parts/action-form.js";
import { CodeBlock } from "../../browser-parts/code-block.js";
import { List } from "../../browser-parts/data-table.js";
import { formatCount } from "../../text/format.js";
import { View } from "../../browser-parts/page-frame.js";
import { Badge, type Tone } from "../../browser-parts/badge.js";
import { Facts, Loaded, Moment, Panel } from "../../browser-parts/panel.js";
import type { Data } from "../../browser-parts/use-data.js";
import { go, href, useQuery, useRoute } from "../../browser-parts/use-route.js";
import { visible } from "../../text/visible-text.js";
import { type Answer, control, type Delivery, useAnswer, useDesk } from "./control.js";

/** `#/deliveries` and `#/deliveries/ID`. */
export function Deliveries() {
  const id = useRoute().path[1];
  return id === undefined ? <DeliveryHistory /> : <DeliveryView id={id} />;
}

const PAGE = 20;
const ALL = ["", "All"] as const;
const STATES: readonly Delivery["state"][] = ["waiting", "sending", "delivered", "failed", "expired", "cancelled"];
const TYPES: readonly Delivery["event_type"][] = ["signal.published", "webhook.test", "webhook.verification"];

function DeliveryHistory() {
  const { account_id } = useDesk().account;
  const { before } = useQuery({ before: "" });
  const filter = useQuery({ registration_id: "", state: "", event_type: "", event_id: "" });
  const registrations = useAnswer<"listRegistrations">("/registrations", { account_id }).data?.items ?? [];
  const deliveries = useAnswer<"listDeliveries">("/deliveries", { account_id, ...filter, before, limit: PAGE + 1 });
  // The one too many tells that there is an older page.
  const found = deliveries.data?.items ?? [];
  const items = found.slice(0, PAGE);
  const webhooks = registrations.map(({ id, url }) => [id, url] as const);
  return (
    <View title="Deliveries">
      <FilterForm
        label="Deliveries"
        path={["deliveries"]}
        values={filter}
        fields={[
          { name: "registration_id", label: "Webhook", choices: [ALL, ...webhooks] },
          { name: "state", label: "State", choices: [ALL, ...STATES] },
          { name: "event_type", label: "Type", choices: [ALL, ...TYPES] },
          { name: "event_id", label: "Event id", type: "search", placeholder: "evt_…", width: "grows" },
        ]}
      />
      <section class="panel" aria-label="Deliveries">
        <DeliveryTable from={{ ...deliveries, data: deliveries.data && { items } }} />
        <nav class="toolbar" aria-label="Pages">
          {before !== "" && <a href={href(["deliveries"], filter)}>Newest</a>}
          {found.length > PAGE && (
            <a href={href(["deliveries"], { ...filter, before: items.at(-1)?.delivery_id })}>Older</a>
          )}
        </nav>
      </section>
    </View>
  );
}

function DeliveryView({ id }: { id: string }) {
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

function Details({ delivery }: { delivery: Delivery }) {
  const { registration_id, event_id, event_type, created_at, expires_at, redelivery_of, attempts } = delivery;
  // It is the same in each attempt.
  const body = attempts[0]?.request.body;
  return (
    <>
      <Panel title="Delivery">
        <Facts
          rows={[
            ["State", <DeliveryState key="state" delivery={delivery} />],
            ["Type", event_type],
            ["Event", <Linked key="event" path={["events", event_id]} />],
            ["Webhook", <Linked key="webhook" path={["webhooks", registration_id]} />],
            redelivery_of !== null && [
              "Repeats",
              <Linked key="repeats" path={["deliveries", String(redelivery_of)]} />,
            ],
            ["Made", <Moment key="made" at={created_at} full />],
            ["Can be sent until", <Moment key="end" at={expires_at} full />],
          ]}
        />
      </Panel>
      <Panel title="Attempts">
        <Attempts delivery={delivery} />
        {body !== undefined && <CodeBlock label="Request body" text={body} wrap />}
      </Panel>
    </>
  );
}

/** A link to what has this id. */
const Linked = ({ path, look }: { path: readonly [string, string]; look?: string }) => (
  <a class={look} href={href(path)}>
    {visible(path[1])}
  </a>
);

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  waiting: "busy",
  sending: "busy",
  delivered: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "idle",
};

/** The state of a delivery, and when it is sent again. */
function DeliveryState({ delivery }: { delivery: Delivery }) {
  const { state, next_attempt_at, attempts } = delivery;
  // A delivery that failed once waits for its next attempt.
  const tone = state === "waiting" && attempts.length > 0 ? "warn" : TONES[state];
  return (
    <span>
      <Badge tone={tone}>{state}</Badge>{" "}
      {next_attempt_at !== null && (
        <span class="muted">
          next attempt <Moment at={next_attempt_at} />
        </span>
      )}
    </span>
  );
}

export function DeliveryTable({ from }: { from: Data<{ items: readonly Delivery[] }> }) {
  return (
    <List
      label="Deliveries"
      empty="There is no delivery here."
      from={from}
      keyOf={({ delivery_id }) => delivery_id}
      columns={[
        {
          label: "Delivery",
          cell: ({ delivery_id }) => <a href={href(["deliveries", String(delivery_id)])}>{`#${delivery_id}`}</a>,
        },
        {
          label: "Event",
          grows: true,
          cell: ({ event_type, event_id }) => (
            <>
              {event_type} <Linked path={["events", event_id]} look="mono" />
            </>
          ),
        },
        { label: "State", cell: (delivery) => <DeliveryState delivery={delivery} /> },
        { label: "Attempts", align: "end", cell: ({ attempts }) => formatCount(attempts.length) },
        { label: "Last answer", cell: ({ attempts }) => answerText(attempts.at(-1)) },
        { label: "Made", cell: ({ created_at }) => <Moment at={created_at} /> },
      ]}
    />
  );
}

type Attempt = Delivery["attempts"][number];

/** What the endpoint answered, in a word or two. */
function answerText(attempt: Attempt | undefined): string {
  if (attempt === undefined) return "none yet";
  return attempt.answer === null ? (attempt.failure ?? "none").replaceAll("_", " ") : String(attempt.answer.status);
}

/** Every request of a delivery with its answer, the newest first. */
export function Attempts({ delivery }: { delivery: Delivery }) {
  if (delivery.attempts.length === 0) return <p class="muted">Nothing has been sent yet.</p>;
  return (
    <ol class="stack attempts">
      {delivery.attempts.toReversed().map((attempt, index, { length }) => (
        <li key={length - index}>
          <AttemptDetails attempt={attempt} number={length - index} isNewest={index === 0} />
        </li>
      ))}
    </ol>
  );
}

function AttemptDetails({ attempt, number, isNewest }: { attempt: Attempt; number: number; isNewest: boolean }) {
  // Only as it appears. Later the reader decides, also when a newer attempt comes.
  const [isOpen] = useState(isNewest);
  const { request, answer, faults, duration_ms, started_at } = attempt;
  const isGood = answer !== null && answer.status >= 200 && answer.status < 300;
  return (
    <details open={isOpen}>
      <summary>
        Attempt {number} <Badge tone={isGood ? "good" : "bad"}>{answerText(attempt)}</Badge>{" "}
        <span class="muted">
          {formatCount(Math.round(duration_ms))} ms, <Moment at={started_at} />
          {faults.length > 0 && `, with the fault ${faults.map(({ kind }) => kind).join(", ")}`}
        </span>
      </summary>
      <div class="halves">
        <CodeBlock label={`Request headers of attempt ${number}`} text={headersText(request.headers)} wrap />
        {answer === null ? (
          <p class="problem">No answer: {answerText(attempt)}.</p>
        ) : (
          <div class="stack">
            <CodeBlock label={`Answer headers of attempt ${number}`} text={headersText(answer.headers)} wrap />
            {answer.body !== "" && <CodeBlock label={`Answer body of attempt ${number}`} text={answer.body} wrap />}
          </div>
        )}
      </div>
    </details>
  );
}

/** Until it is too old, a signature lets anyone repeat the request, so a picture of this page must not have it. */
const SIGNATURE = /^x-service-signature$/i;

const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${SIGNATURE.test(name) ? "not shown" : value}`)
    .join("\n");
