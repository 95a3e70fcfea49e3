import { useState } from "preact/hooks";
import {
  ActionButton,
  type Column,
  type Data,
  type Field,
  href,
  List,
  Panel,
  View,
} from "../../../page/parts/index.js";
import { type Answer, change, control, typed, useAnswer, useDesk } from "./control.js";
import { webhookName } from "./deliveries.js";
import { OperationForm } from "./operation-form.js";

type DeliveryFault = Answer<"listDeliveryFaults">["items"][number];

const KINDS: readonly (readonly [DeliveryFault["kind"], string])[] = [
  ["status", "status: the answer counts as this status"],
  ["latency", "latency: sent later, by this many ms"],
  ["reorder", "reorder: sent after another one, within this many ms"],
  ["cut_body", "cut_body: the connection ends within the body"],
  ["reset", "reset: the connection is reset"],
  ["duplicate", "duplicate: delivered twice"],
];
/** What a fault takes. The others take nothing. */
const VALUES: Partial<Record<string, Partial<Field>>> = {
  status: { label: "Status" },
  latency: { label: "Milliseconds" },
  reorder: { label: "Milliseconds", isRequired: false, placeholder: "2000" },
};

export function Faults() {
  const { account_id } = useDesk().account;
  const registrations = useAnswer("listRegistrations", { account_id });
  const webhooks = registrations.data?.items
    .filter(({ status }) => status !== "deleted")
    .map((row) => [row.id, webhookName(row)] as const);
  const names = new Map(webhooks);
  const [chosen, setChosen] = useState("status");
  const field = VALUES[chosen];
  return (
    <View title="Faults" isDense>
      <Panel title="Faults of deliveries">
        <p class="hint">
          What goes wrong between the service and a receiver, to see what the receiver and its
          retries make of it.
        </p>
        {webhooks?.length === 0 ? (
          <p>
            There is no webhook yet. <a href={href(["webhooks", "new"])}>Register one</a> first.
          </p>
        ) : (
          <div
            onChange={({ target }) => {
              if (target instanceof HTMLSelectElement && target.name === "kind")
                setChosen(target.value);
            }}
          >
            <OperationForm
              operation="setDeliveryFault"
              fields={{
                registration_id: { label: "Webhook", choices: webhooks ?? [] },
                kind: { label: "Fault", choices: KINDS, value: chosen },
                ...(field && { value: field }),
                times: { label: "Requests", placeholder: "all" },
              }}
              action="Set"
              said={() => "The fault is set."}
            />
          </div>
        )}
        <FaultList
          label="Faults of deliveries"
          from={useAnswer("listDeliveryFaults")}
          columns={[
            {
              label: "Webhook",
              look: "grows",
              cell: ({ registration_id: id }) => names.get(id) ?? id,
            },
            { label: "Fault", cell: ({ kind, value }) => `${kind} ${value ?? ""}` },
            { label: "How often", cell: ({ times }) => oftenOf(times) },
          ]}
          of={({ registration_id }) => registration_id}
          clear={(registration_id) => control.clearDeliveryFaults({ registration_id })}
        />
      </Panel>
      <Panel title="Faults of the REST API">
        <p class="hint">
          An operation that answers 503, over REST and MCP, to see what a client makes of it.
        </p>
        <OperationForm
          operation="setOperationFault"
          fields={{ operation: {}, code: {}, calls: { placeholder: "all" } }}
          action="Set"
          said={() => "The fault is set."}
        />
        <FaultList
          label="Faults of the REST API"
          from={useAnswer("listOperationFaults")}
          columns={[
            { label: "Operation", look: "grows", cell: "operation" },
            { label: "Fault", cell: ({ code }) => `503 ${code}` },
            { label: "How often", cell: ({ calls }) => oftenOf(calls) },
          ]}
          of={({ operation }) => operation}
          clear={(operation) => control.clearOperationFault({ operation: typed(operation) })}
        />
      </Panel>
    </View>
  );
}

interface FaultListProps<Fault> {
  label: string;
  from: Data<{ items: readonly Fault[] }>;
  columns: readonly Column<Fault>[];
  /** What has the fault. */
  of: (fault: Fault) => string;
  clear: (of: string) => Promise<unknown>;
}

function FaultList<Fault>({ columns, of, clear, ...list }: FaultListProps<Fault>) {
  const button = (fault: Fault) => (
    <ActionButton
      label="Clear"
      of={`the faults of ${of(fault)}`}
      tone="plain"
      run={() => change(`The faults of ${of(fault)} are cleared.`, clear(of(fault)))}
    />
  );
  return (
    <List
      {...list}
      empty="No fault is set."
      keyOf={(fault) => JSON.stringify(fault)}
      columns={[...columns, { label: "Action", cell: button }]}
    />
  );
}

const oftenOf = (times: number | null): string =>
  times === null ? "until cleared" : `the next ${times}`;
