import type { JSX } from "preact";
import type { InvestigationTask, TaskStatus } from "../../../../api/investigation.js";
import { Badge, type Tone } from "../../parts/badge.js";
import { Moment } from "../../parts/moment.js";
import { href, useRoute } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import { ActionButton } from "../action-button.js";
import { ActionForm, LOCALE, type Values } from "../action-form.js";
import { control, rest, useAnswer, type Answer } from "../control.js";
import { useDesk } from "../desk.js";
import { Facts, List, Loaded, Panel, View } from "../panel.js";
import { Report } from "./report.js";

type Investigation = Answer<"listInvestigations">["items"][number];

const TONES: Readonly<Record<TaskStatus, Tone>> = {
  queued: "idle",
  running: "busy",
  succeeded: "good",
  failed: "bad",
  cancelled: "idle",
};

/** `#/investigations` and `#/investigations/ID`. */
export function Investigations(): JSX.Element {
  const { account } = useDesk();
  const id = useRoute().path[1];
  const tasks = useAnswer<"listInvestigations">("/investigations", { account_id: account.account_id });
  if (id === undefined) {
    return (
      <View title="Investigations">
        <Start onStarted={tasks.reload} />
        <Loaded from={tasks}>{({ items }) => <Started items={items.toReversed()} onChanged={tasks.reload} />}</Loaded>
      </View>
    );
  }
  return (
    <View title="Investigation" actions={<a href={href(["investigations"])}>All investigations</a>}>
      <Loaded from={tasks}>
        {({ items }) => {
          const task = items.find(({ task_id }) => task_id === id);
          return task === undefined ? (
            <p>{visible(account.name)} has no investigation with this id.</p>
          ) : (
            <Task task={task} />
          );
        }}
      </Loaded>
    </View>
  );
}

/** Starts an investigation over REST, as a client does it: with an API key. */
function Start({ onStarted }: { onStarted: () => void }): JSX.Element {
  const { account, apiKey, setApiKey } = useDesk();
  const follows = useAnswer<"listFollows">(`/accounts/${account.account_id}/follows`);

  async function start({ slug = "", locale, key = "" }: Values): Promise<string> {
    const body = { slug, locale, idempotency_key: crypto.randomUUID(), confirm_usage: true };
    await rest<InvestigationTask>("POST", "/research/promotion-investigations", { token: key, body });
    setApiKey(key);
    onStarted();
    return `The investigation of ${visible(slug)} is queued.`;
  }

  return (
    <Panel title="Start one" actions={<a href={href(["keys"])}>Make a key</a>}>
      <ActionForm
        fields={[
          {
            name: "slug",
            label: "Product or category",
            suggestions: follows.data?.items.map(({ slug }) => slug) ?? [],
            placeholder: "A slug",
            isRequired: true,
            width: "grows",
          },
          LOCALE,
          { name: "key", label: "API key", type: "password", value: apiKey, isRequired: true, width: "grows" },
        ]}
        action="Start"
        run={start}
      >
        <label class="check">
          <input type="checkbox" required />
          <span>It uses research allowance, and a call of the month's quota if there is one.</span>
        </label>
      </ActionForm>
    </Panel>
  );
}

function Started({ items, onChanged }: { items: readonly Investigation[]; onChanged: () => void }): JSX.Element {
  const { now } = useDesk();

  async function advance(): Promise<string> {
    await control("POST", "/clock/advance", { hours: 1 });
    onChanged();
    return "The clock was advanced by an hour.";
  }

  const end = (task: Investigation, label: string, how: "cancel" | "fail", done: string): JSX.Element => (
    <ActionButton
      label={label}
      of={`the investigation of ${visible(task.slug)}`}
      tone="danger"
      confirm={{
        title: `${label} the investigation?`,
        text: `The investigation of ${visible(task.slug)} ends without a report. This cannot be undone.`,
      }}
      run={async () => {
        await control("POST", `/investigations/${task.task_id}/${how}`);
        onChanged();
        return `The investigation of ${visible(task.slug)} ${done}.`;
      }}
    />
  );

  return (
    <Panel title="Started" actions={<ActionButton label="Advance the clock by an hour" run={advance} />}>
      <List
        label="Investigations"
        empty="None yet."
        rows={items}
        keyOf={({ task_id }) => task_id}
        columns={[
          {
            label: "Product",
            grows: true,
            cell: ({ slug, task_id }) => <a href={href(["investigations", task_id])}>{visible(slug)}</a>,
          },
          { label: "Language", cell: ({ locale }) => locale },
          { label: "Status", cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
          { label: "Stage", whole: true, cell: ({ stage }) => stage.replaceAll("_", " ") },
          { label: "Started", whole: true, cell: ({ created_at }) => <Moment at={Date.parse(created_at)} now={now} /> },
          {
            label: "Action",
            whole: true,
            cell: (task) =>
              (task.status === "queued" || task.status === "running") && (
                <span class="toolbar">
                  {end(task, "Cancel", "cancel", "is cancelled")}
                  {end(task, "Fail", "fail", "has failed")}
                </span>
              ),
          },
        ]}
      />
    </Panel>
  );
}

function Task({ task }: { task: Investigation }): JSX.Element {
  const { now } = useDesk();
  const { slug, status, stage, task_id, created_at, error, report } = task;
  return (
    <>
      <Panel title={visible(slug)}>
        <Facts
          rows={[
            [
              "Status",
              <Badge key="status" tone={TONES[status]}>
                {status}
              </Badge>,
            ],
            ["Stage", stage.replaceAll("_", " ")],
            ["Task", <code key="task">{task_id}</code>],
            ["Started", <Moment key="started" at={Date.parse(created_at)} now={now} full />],
            error !== null && ["Error", `${visible(error.code)}: ${visible(error.message)}`],
          ]}
        />
      </Panel>
      {report !== null && <Report report={report} />}
    </>
  );
}
