import { visible } from "../../../base/text/visible-text.js";
import { ActionButton, ActionForm, type Field, type Values } from "../../../page/parts/actions.js";
import { View } from "../../../page/parts/page-frame.js";
import { List, Panel } from "../../../page/parts/panel.js";
import type { Data } from "../../../page/parts/use-data.js";
import { href } from "../../../page/parts/use-route.js";
import { type Answer, change, control, typed, useAnswer, useDesk } from "./control.js";

type DeliveryFault = Answer<"listDeliveryFaults">["items"][number];
type OperationFault = Answer<"listOperationFaults">["items"][number];

const KINDS: readonly (readonly [DeliveryFault["kind"], string])[] = [
  ["status", "status: the answer counts as this status"],
  ["latency", "latency: sent later, by this many ms"],
  ["reorder", "reorder: sent after another one, within this many ms"],
  ["cut_body", "cut_body: the connection ends within the body"],
  ["reset", "reset: the connection is reset"],
  ["duplicate", "duplicate: delivered twice"],
];

/** Those with 503 in the document. */
const OPERATIONS: readonly (readonly [OperationFault["operation"], string])[] = [
  ["rankings", "Rankings"],
  ["searchDemand", "Search demand"],
  ["startInvestigation", "Start an investigation"],
  ["readInvestigation", "Read an investigation"],
  ["registerWebhook", "Register a webhook"],
];

const CODES: readonly OperationFault["code"][] = ["DATA_UNAVAILABLE", "FEATURE_NOT_ACTIVATED"];

export function Faults() {
  const { account } = useDesk();
  const registrations = useAnswer("listRegistrations", {
    account_id: account.account_id,
  });
  const ofDeliveries = useAnswer("listDeliveryFaults");
  const ofOperations = useAnswer("listOperationFaults");
  const webhooks = (registrations.data?.items ?? [])
    .filter(({ status }) => status !== "deleted")
    .map(({ id, url }) => [id, `${url} · ${id}`] as const);
  return (
    <View title="Faults">
      <FaultPanel
        title="Faults of deliveries"
        hint="What goes wrong between the service and a receiver, to see what the receiver and its retries make of it."
        set={(input) => control.setDeliveryFault(typed(input))}
        clear={(registration_id) => control.clearDeliveryFaults({ registration_id })}
        fields={[
          { name: "registration_id", label: "Webhook", choices: webhooks },
          { name: "kind", label: "Fault", choices: KINDS },
          { name: "value", label: "Status or ms", type: "number", width: "short" },
          { name: "times", label: "Requests", type: "number", placeholder: "all", width: "short" },
        ]}
        from={ofDeliveries}
        faultOf={({ registration_id, kind, value, times }) => [
          registration_id,
          `${kind} ${value ?? ""}`,
          times,
        ]}
      />
      <FaultPanel
        title="Faults of the REST API"
        hint="An operation that answers 503, over REST and MCP, to see what a client makes of it."
        set={(input) => control.setOperationFault(typed(input))}
        clear={(operation) => control.clearOperationFault({ operation: typed(operation) })}
        fields={[
          { name: "operation", label: "Operation", choices: OPERATIONS },
          { name: "code", label: "Code", choices: CODES },
          { name: "calls", label: "Calls", type: "number", placeholder: "all", width: "short" },
        ]}
        from={ofOperations}
        faultOf={({ operation, code, calls }) => [operation, `503 ${code}`, calls]}
      />
    </View>
  );
}

interface FaultPanelProps<Fault> {
  title: string;
  hint: string;
  set: (input: Readonly<Record<string, unknown>>) => Promise<unknown>;
  clear: (of: string) => Promise<unknown>;
  fields: readonly Field[];
  from: Data<{ items: Fault[] }>;
  faultOf: (fault: Fault) => [of: string, what: string, times: number | null];
}

function FaultPanel<Fault>(panel: FaultPanelProps<Fault>) {
  const { title, hint, set, fields, from, faultOf } = panel;

  const isNumber = (name: string): boolean =>
    fields.some((field) => field.name === name && field.type === "number");
  const inputOf = (values: Values): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(values).map(([name, text]) => [name, isNumber(name) ? Number(text) : text]),
    );
  const clear = (of: string): Promise<string> =>
    change(from, `The faults of ${of} are cleared.`, panel.clear(of));

  return (
    <Panel title={title}>
      <p class="hint">{hint}</p>
      {fields[0]?.choices?.length === 0 ? (
        <p>
          There is no webhook yet. <a href={href(["webhooks", "new"])}>Register one</a> first.
        </p>
      ) : (
        <ActionForm
          fields={fields}
          action="Set"
          run={(values) => change(from, "The fault is set.", set(inputOf(values)))}
        />
      )}
      <List
        label={title}
        empty="No fault is set."
        from={from}
        keyOf={(fault) => faultOf(fault).join(" ")}
        columns={[
          {
            label: fields[0]?.label ?? "",
            grows: true,
            cell: (fault) => visible(faultOf(fault)[0]),
          },
          { label: "Fault", cell: (fault) => faultOf(fault)[1] },
          { label: "How often", cell: (fault) => oftenOf(faultOf(fault)[2]) },
          {
            label: "Action",
            cell: (fault) => {
              const [of] = faultOf(fault);
              return (
                <ActionButton
                  label="Clear"
                  of={`the faults of ${of}`}
                  tone="plain"
                  run={() => clear(of)}
                />
              );
            },
          },
        ]}
      />
    </Panel>
  );
}

const oftenOf = (times: number | null): string =>
  times === null ? "until cleared" : `the next ${times}`;
