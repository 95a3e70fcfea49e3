import { useState } from "preact/hooks";
import { safely } from "../../../base/errors.js";
import { formatCount, formatDuration, formatMoment } from "../../../base/text/format.js";
import {
  ActionButton,
  CodeBlock,
  type Data,
  Facts,
  FilterForm,
  go,
  href,
  List,
  Loaded,
  Moment,
  Panel,
  State,
  type Tone,
  usePage,
  useQuery,
  useRoute,
  View,
} from "../../../page/parts/index.js";
import { resultOf } from "../../../page/timeline/build-timeline.js";
import { control, type Delivery, type Registration, typed, useAnswer, useDesk } from "./control.js";
import { fieldsOf, useInput } from "./operation-form.js";

/** `#/deliveries` and `#/deliveries/ID`. */
export function Deliveries() {
  const id = useRoute().path[1];
  return id === undefined ? <DeliveryHistory /> : <DeliveryView id={id} />;
}

const PAGE = 20;
function DeliveryHistory() {
  const { account_id } = useDesk().account;
  const { before } = useQuery({ before: "" });
  const filter = useQuery({ registration_id: "", state: "", event_type: "", event_id: "" });
  const registrations = useAnswer("listRegistrations", { account_id }).data?.items ?? [];
  const input = useInput("listDeliveries").data;
  const deliveries = useAnswer(
    "listDeliveries",
    typed({ account_id, ...filter, before, limit: PAGE + 1 }),
  );
  // The one too many tells that there is an older page.
  const found = deliveries.data?.items ?? [];
  const items = found.slice(0, PAGE);
  const webhooks = registrations.map(
    (registration) => [registration.id, webhookName(registration)] as const,
  );
  return (
    <View title="Deliveries" isDense>
      <section class="panel" aria-label="Deliveries">
        {input !== undefined && (
          <FilterForm
            label="Deliveries"
            path={["deliveries"]}
            values={filter}
            fields={fieldsOf(input, {
              event_id: {
                label: "Event id",
                type: "search",
                placeholder: "Event id",
                width: "grows",
              },
              state: {},
              event_type: { label: "Type" },
              registration_id: { label: "Webhook", choices: webhooks },
            }).map((field) => ({
              ...field,
              ...(field.choices && { choices: [["", `${field.label}: all`], ...field.choices] }),
            }))}
          />
        )}
        <DeliveryTable
          from={{ ...deliveries, data: deliveries.data && { items } }}
          webhooks={new Map(webhooks)}
        />
        <nav class="toolbar" aria-label="Pages">
          {before !== "" && <a href={href(["deliveries"], filter)}>Newest</a>}
          {found.length > PAGE && (
            <a href={href(["deliveries"], { ...filter, before: items.at(-1)?.delivery_id })}>
              Older
            </a>
          )}
        </nav>
      </section>
    </View>
  );
}

/** Where it is, and the beginning of its id: two webhooks can have one address. */
export const webhookName = ({ id, url }: Pick<Registration, "id" | "url">): string =>
  `${url.replace(/^https?:\/\//, "")} · ${id.slice(0, 11)}`;

function DeliveryView({ id }: { id: string }) {
  const named = { delivery_id: typed(id) };
  const delivery = useAnswer("readDelivery", named);

  async function redeliver(): Promise<string> {
    const { delivery_id } = await control.redeliver(named);
    go(["deliveries", String(delivery_id)]);
    return `The event is sent again, with delivery #${delivery_id}.`;
  }

  return (
    <View
      title={`Delivery #${id}`}
      actions={delivery.data && <ActionButton label="Redeliver" run={redeliver} />}
    >
      <Loaded from={delivery}>{(data) => <Details delivery={data} />}</Loaded>
    </View>
  );
}

function Details({ delivery }: { delivery: Delivery }) {
  const {
    registration_id,
    event_id,
    event_type,
    created_at,
    expires_at,
    next_attempt_at,
    redelivery_of,
    attempts,
    signal,
  } = delivery;
  // It is the same in each attempt.
  const body = attempts[0]?.request.body;
  return (
    <>
      <Panel title="Delivery">
        <Facts
          of={{
            State: <StateOf delivery={delivery} />,
            "Next attempt": next_attempt_at !== null && <Moment at={next_attempt_at} full />,
            Type: signal === null ? event_type : signal.signal_type,
            Product: signal !== null && signal.slug,
            Title: signal !== null && signal.title,
            Event: <Linked path={["events", event_id]} />,
            Webhook: <Linked path={["webhooks", registration_id]} />,
            Repeats: redelivery_of !== null && (
              <Linked path={["deliveries", String(redelivery_of)]} />
            ),
            Created: <Moment at={created_at} full />,
            "Can be sent until": <Moment at={expires_at} full />,
          }}
        />
      </Panel>
      <Panel title="Attempts">
        <Attempts delivery={delivery} />
        {body !== undefined && <CodeBlock label="Request body" text={indented(body)} />}
      </Panel>
    </>
  );
}

const indented = (json: string): string =>
  safely(() => JSON.stringify(JSON.parse(json), null, 2), json);

/** A link to what has this id. */
const Linked = ({ path }: { path: readonly [string, string] }) => (
  <a href={href(path)}>{path[1]}</a>
);

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  waiting: "busy",
  sending: "busy",
  delivered: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "idle",
};

function StateOf({ delivery: { state, attempts } }: { delivery: Delivery }) {
  // A delivery that failed once waits for its next attempt.
  const tone = state === "waiting" && attempts.length > 0 ? "warn" : TONES[state];
  return <State tone={tone}>{state}</State>;
}

/** What came of it so far, and when it is sent again. */
function Outcome({ delivery: { state, attempts, next_attempt_at } }: { delivery: Delivery }) {
  const { now } = usePage();
  const last = attempts.at(-1);
  const text = [
    last === undefined
      ? "nothing sent yet"
      : `${answerText(last)}, ${formatDuration(last.duration_ms)}`,
    attempts.length > 1 && formatCount(attempts.length, "attempt"),
    next_attempt_at !== null && `next attempt ${formatMoment(Date.parse(next_attempt_at), now)}`,
  ]
    .filter(Boolean)
    .join(" · ");
  return (
    <span class={TONES[state] === "bad" ? "problem" : "muted"} title={text}>
      {text}
    </span>
  );
}

interface DeliveryTableProps {
  from: Data<{ items: readonly Delivery[] }>;
  /** The names of the webhooks, where the deliveries are of several. */
  webhooks?: ReadonlyMap<string, string>;
}

export function DeliveryTable({ from, webhooks }: DeliveryTableProps) {
  return (
    <List
      label="Deliveries"
      empty="There is no delivery here."
      from={from}
      keyOf="delivery_id"
      lines
      onOpen={({ delivery_id }) => go(["deliveries", String(delivery_id)])}
      columns={[
        { label: "State", look: "leads", cell: (delivery) => <StateOf delivery={delivery} /> },
        { label: "Created", look: "leads", cell: "created_at" },
        ...(webhooks === undefined
          ? []
          : [
              {
                label: "Webhook",
                look: "kind" as const,
                cell: ({ registration_id }: Delivery) =>
                  webhooks.get(registration_id) ?? registration_id,
              },
            ]),
        {
          label: "Type",
          look: "kind",
          cell: ({ event_type, signal }) => signal?.signal_type ?? event_type,
        },
        {
          label: "Event",
          cell: ({ delivery_id, event_id, signal }) => (
            <span>
              <a href={href(["deliveries", String(delivery_id)])} title={event_id}>
                {signal?.title ?? event_id}
              </a>{" "}
              {signal?.slug} #{delivery_id}
            </span>
          ),
        },
        { label: "Outcome", cell: (delivery) => <Outcome delivery={delivery} /> },
      ]}
    />
  );
}

type Attempt = Delivery["attempts"][number];

/** The status that a fault made of the answer; undefined when the answer counted as it was. */
const faultStatus = ({ faults }: Attempt): number | null | undefined =>
  faults.findLast(({ kind }) => kind === "status")?.value;

/** What the endpoint answered, in a few words, and what a fault made of it. */
function answerText(attempt: Attempt): string {
  const said = resultOf(attempt);
  const taken = faultStatus(attempt);
  return taken === undefined ? said : `taken for ${taken}, the receiver said ${said}`;
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

function AttemptDetails({
  attempt,
  number,
  isNewest,
}: {
  attempt: Attempt;
  number: number;
  isNewest: boolean;
}) {
  // Only as it appears. Later the reader decides, also when a newer attempt comes.
  const [isOpen] = useState(isNewest);
  const { request, answer, faults, duration_ms, started_at } = attempt;
  const status = faultStatus(attempt) ?? answer?.status ?? 0;
  const isGood = status >= 200 && status < 300;
  return (
    <details open={isOpen}>
      <summary>
        Attempt {number} <State tone={isGood ? "good" : "bad"}>{answerText(attempt)}</State>{" "}
        <span class="muted">
          {formatDuration(duration_ms)}, <Moment at={started_at} short />
          {faults.length > 0 && `, with the fault ${faults.map(({ kind }) => kind).join(", ")}`}
        </span>
      </summary>
      <div class="halves">
        <CodeBlock
          label={`Request headers of attempt ${number}`}
          text={headersText(request.headers)}
        />
        {answer === null ? (
          <p class="problem">No answer: {answerText(attempt)}.</p>
        ) : (
          <div class="stack">
            <CodeBlock
              label={`Answer headers of attempt ${number}`}
              text={headersText(answer.headers)}
            />
            {answer.body !== "" && (
              <CodeBlock label={`Answer body of attempt ${number}`} text={answer.body} />
            )}
          </div>
        )}
      </div>
    </details>
  );
}

/**
 * Until it is too old, a signature lets anyone repeat the request, so a picture of this page must
 * not have it.
 */
const SIGNATURE = /^x-service-signature$/i;

const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${SIGNATURE.test(name) ? "not shown" : value}`)
    .join("\n");
