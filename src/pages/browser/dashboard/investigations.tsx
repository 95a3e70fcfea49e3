import type { InvestigationTask, TaskStatus } from "../../../api/investigation.js";
import type { InvestigationReport } from "../../../api/report.js";
import { ActionButton } from "../parts/action-button.js";
import { ActionForm, type Values } from "../parts/action-form.js";
import { List } from "../parts/data-table.js";
import { View } from "../parts/page-frame.js";
import { Badge, Facts, Loaded, Moment, Panel, type Tone } from "../parts/panel.js";
import type { Data } from "../parts/use-data.js";
import { href, useRoute } from "../parts/use-route.js";
import { visible } from "../../../text/visible-text.js";
import { type Answer, control, rest, useAnswer, useDesk } from "./control.js";
import { API_KEY, LOCALE, SLUG } from "./fields.js";

type Investigation = Answer<"listInvestigations">["items"][number];

const TONES: Readonly<Record<TaskStatus, Tone>> = {
  queued: "idle",
  running: "busy",
  succeeded: "good",
  failed: "bad",
  cancelled: "idle",
};

const StatusBadge = ({ status }: Pick<Investigation, "status">) => <Badge tone={TONES[status]}>{status}</Badge>;

/** `#/investigations` and `#/investigations/ID`. */
export function Investigations() {
  const { account } = useDesk();
  const id = useRoute().path[1];
  const tasks = useAnswer<"listInvestigations">("/investigations", { account_id: account.account_id });
  if (id === undefined) {
    return (
      <View title="Investigations">
        <Start onStarted={tasks.reload} />
        <Started tasks={tasks} />
      </View>
    );
  }
  const task = tasks.data?.items.find(({ task_id }) => task_id === id);
  return (
    <View title="Investigation" actions={<a href={href(["investigations"])}>All investigations</a>}>
      <Loaded from={tasks}>
        {() => (task ? <Task task={task} /> : <p>{visible(account.name)} has no investigation with this id.</p>)}
      </Loaded>
    </View>
  );
}

/** Starts an investigation over REST, as a client does it: with an API key. */
function Start({ onStarted }: { onStarted: () => void }) {
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
          { ...SLUG, label: "Product or category", suggestions: follows.data?.items.map(({ slug }) => slug) },
          LOCALE,
          { ...API_KEY, value: apiKey },
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

function Started({ tasks }: { tasks: Data<Answer<"listInvestigations">> }) {
  async function advance(): Promise<string> {
    await control("POST", "/clock/advance", { hours: 1 });
    tasks.reload();
    return "The clock was advanced by an hour.";
  }

  const end = (task: Investigation, label: string, how: "cancel" | "fail", done: string) => (
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
        tasks.reload();
        return `The investigation of ${visible(task.slug)} ${done}.`;
      }}
    />
  );

  return (
    <Panel title="Started" actions={<ActionButton label="Advance the clock by an hour" run={advance} />}>
      <List
        label="Investigations"
        empty="None yet."
        from={tasks}
        isReversed
        keyOf={({ task_id }) => task_id}
        columns={[
          {
            label: "Product",
            grows: true,
            cell: ({ slug, task_id }) => <a href={href(["investigations", task_id])}>{visible(slug)}</a>,
          },
          { label: "Language", cell: ({ locale }) => locale },
          { label: "Status", cell: StatusBadge },
          { label: "Stage", whole: true, cell: ({ stage }) => stage.replaceAll("_", " ") },
          { label: "Started", whole: true, cell: ({ created_at }) => <Moment at={created_at} /> },
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

function Task({ task }: { task: Investigation }) {
  const { slug, status, stage, task_id, created_at, error, report } = task;
  return (
    <>
      <Panel title={visible(slug)}>
        <Facts
          rows={[
            ["Status", <StatusBadge key="status" status={status} />],
            ["Stage", stage.replaceAll("_", " ")],
            ["Task", <code key="task">{task_id}</code>],
            ["Started", <Moment key="started" at={created_at} full />],
            error !== null && ["Error", `${visible(error.code)}: ${visible(error.message)}`],
          ]}
        />
      </Panel>
      {report !== null && <Report report={report} />}
    </>
  );
}

/** A field of an item in a list of a report, as text. The service's document does not define these items. */
function textOf(item: unknown, name: string): string {
  const value = (item as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof value === "string" ? visible(value) : "";
}

/** A report to read: what it says, and its sources. */
function Report({ report }: { report: InvestigationReport }) {
  const { narrative, analysis, conclusion, caveat, sources } = report;
  const sections = [
    ...(narrative?.sections ?? []).map((section) => [textOf(section, "title"), textOf(section, "text")] as const),
    ["Conclusion", visible(conclusion)] as const,
    ["Caveat", visible(caveat)] as const,
  ];
  return (
    <article class="panel report">
      <h2>{visible(narrative?.title ?? "Report")}</h2>
      <p>{visible(narrative?.summary?.text ?? analysis.overview)}</p>
      {sections.map(([title, text], index) => (
        <section key={index}>
          <h3>{title}</h3>
          <p>{text}</p>
        </section>
      ))}
      <section>
        <h3>Sources</h3>
        <ol>
          {sources.map((source, index) => (
            <li key={index}>
              {textOf(source, "title")} <span class="muted mono">{textOf(source, "url")}</span>
            </li>
          ))}
        </ol>
      </section>
    </article>
  );
}
