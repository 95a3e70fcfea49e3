import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatUtc } from "../../../base/text/format.js";
import {
  ActionButton,
  ActionForm,
  Facts,
  formatTime,
  href,
  PageFrame,
  Panel,
  Problem,
  RequestProblem,
  showPage,
  UnknownView,
  useData,
  usePage,
  useRoute,
  type Values,
  View,
} from "../../../page/parts/index.js";
import { advanceToNextSignals } from "../control/advance-to-next-signals.js";
import type { ClockMove } from "../instance/events.js";
import {
  type Account,
  control,
  type Desk,
  DeskContext,
  hasInboxPage,
  keepControlToken,
  useChanges,
  useDesk,
} from "./control.js";
import { Deliveries } from "./deliveries.js";
import { EventView } from "./event-view.js";
import { Faults } from "./faults.js";
import { Keys, NewAccount } from "./keys.js";
import { OperationForm } from "./operation-form.js";
import { Overview } from "./overview.js";
import { Signals } from "./signals.js";
import { Webhooks } from "./webhooks.js";

type ViewRow = readonly [path: string, label: string, Shown: ComponentType];

const UNKNOWN: ViewRow = ["unknown", "", UnknownView];
const VIEWS: readonly ViewRow[] = [
  ["", "Overview", Overview],
  ["keys", "Keys", Keys],
  ["webhooks", "Webhooks", Webhooks],
  ["deliveries", "Deliveries", Deliveries],
  ["signals", "Signals", Signals],
  ["clock", "Clock", Clock],
  ["faults", "Faults", Faults],
];

const BRAND = "Emulator";
const ACCOUNT = "signalbox-account";

/** The dashboard: loads what every view needs, and shows the view that the address names. */
function Frame() {
  const [first = "", ...rest] = useRoute().path;
  const [chosen, setChosen] = useState(Number(sessionStorage.getItem(ACCOUNT)));
  const [keys, setKeys] = useState<Readonly<Record<number, string>>>({});
  const [newSecret, setNewSecret] = useState<Desk["newSecret"]>(null);
  const [now, setNow] = useState(0);
  const version = useChanges(setNow);
  const { data, problem, reload } = useData("frame", loadFrame, version);
  // Behind a proxy that holds messages back, this is all that the page hears of the time.
  useEffect(() => setNow(data?.now ?? 0), [data]);

  function choose(accountId: number): void {
    sessionStorage.setItem(ACCOUNT, String(accountId));
    setChosen(accountId);
  }

  const account =
    data?.accounts.find(({ account_id }) => account_id === chosen) ?? data?.accounts[0];
  const isRefused = isUnauthorized(problem);
  if (isRefused || data === undefined || account === undefined) {
    return (
      <PageFrame brand={BRAND} now={0} version={version}>
        {isRefused ? <TokenForm onGiven={reload} /> : <Problem of={problem} />}
        {!isRefused && data !== undefined && (
          <View title="The first account">
            <NewAccount onMade={choose} />
          </View>
        )}
      </PageFrame>
    );
  }
  // An event stands below the deliveries, without a link of its own.
  const isEvent = first === "events";
  const [current, , Listed] =
    VIEWS.find(([path]) => path === (isEvent ? "deliveries" : first)) ?? UNKNOWN;
  const Shown = isEvent ? EventView : Listed;
  const nav = VIEWS.map(([path, label]) => ({
    label,
    href: href(path === "" ? [] : [path]),
    isCurrent: path === current,
    note: path === "clock" && formatTime(now).slice(0, 16),
  }));
  const { account_id } = account;
  const apiKey = keys[account_id] ?? "";
  const setApiKey = (key: string): void =>
    setKeys((previous) => ({ ...previous, [account_id]: key }));
  return (
    <DeskContext.Provider value={{ account, choose, apiKey, setApiKey, newSecret, setNewSecret }}>
      <PageFrame
        brand={BRAND}
        now={now}
        version={version}
        isLost={problem !== undefined}
        nav={nav}
        aside={<Aside accounts={data.accounts} />}
      >
        <Shown key={[current, ...rest, account_id].join("/")} />
      </PageFrame>
    </DeskContext.Provider>
  );
}

async function loadFrame(): Promise<{ accounts: readonly Account[]; now: number }> {
  const [{ items }, { now }] = await Promise.all([control.listAccounts(), control.now()]);
  return { accounts: items, now: Date.parse(now) };
}

const isUnauthorized = (error: unknown): boolean =>
  error instanceof RequestProblem && error.status === 401;

/** Asks for the token of an emulator that was started with one. */
function TokenForm({ onGiven }: { onGiven: () => void }) {
  async function give({ token = "" }: Values): Promise<string> {
    keepControlToken(token);
    await control.now().catch((error: unknown) => {
      throw isUnauthorized(error) ? new Error("The emulator did not accept this token.") : error;
    });
    onGiven();
    return "The page uses the token from now on.";
  }
  return (
    <View title="Control token">
      <p>
        This emulator was started with a control token (<code>--control-token</code> or{" "}
        <code>SIGNALS_CONTROL_TOKEN</code>). The page keeps it until you close the tab.
      </p>
      <ActionForm
        fields={[{ name: "token", label: "Control token", type: "password", isRequired: true }]}
        action="Continue"
        run={give}
      />
    </View>
  );
}

function Aside({ accounts }: { accounts: readonly Account[] }) {
  const { account, choose } = useDesk();
  return (
    <>
      {hasInboxPage() && <a href="../inbox/">Inbox</a>}
      <select
        aria-label="Account"
        value={account.account_id}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {accounts.map(({ account_id, name, tier }) => (
          <option key={account_id} value={account_id}>
            {`${name} (${tier})`}
          </option>
        ))}
      </select>
    </>
  );
}

showPage(<Frame />);

const SPANS = [
  ["A minute", { minutes: 1 }],
  ["An hour", { hours: 1 }],
  ["A day", { days: 1 }],
] as const;

function Clock() {
  const { now } = usePage();
  const [last, setLast] = useState<ClockMove | null>(null);
  // A reader who leaves this view stops a long advance.
  const [left] = useState(() => new AbortController());
  useEffect(() => () => left.abort(), [left]);

  function move(made: ClockMove): string {
    setLast(made);
    return `It is ${formatUtc(Date.parse(made.now))}.`;
  }

  return (
    <View title="Clock" isDense>
      <Panel title={formatUtc(now)}>
        <p class="hint">
          Advance the clock: retries, new months and investigations that are due on the way are done
          before it answers. It never goes back.
        </p>
        <div class="toolbar" role="group" aria-label="Advance by">
          {SPANS.map(([label, span]) => (
            <ActionButton key={label} label={label} run={() => control.advance(span).then(move)} />
          ))}
          <ActionButton
            label="To the next month's signals"
            tone="primary"
            run={() => advanceToNextSignals(control, left.signal).then(move)}
          />
        </div>
        <OperationForm
          operation="advance"
          fields={{ to: { label: "To a moment, in UTC", isRequired: true } }}
          action="Advance"
          said={move}
        />
      </Panel>
      {last !== null && (
        <Panel title="What was sent meanwhile">
          <Facts
            of={{
              Signals: last.signals_published,
              Deliveries: last.deliveries.created,
              Delivered: last.deliveries.delivered,
              Failed: last.deliveries.failed,
              Expired: last.deliveries.expired,
              Waiting: last.deliveries.waiting,
              "Webhooks paused": last.registrations_paused.length,
            }}
          />
        </Panel>
      )}
    </View>
  );
}
