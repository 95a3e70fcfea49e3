import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { PageFrame } from "../parts/page-frame.js";
import { href, useRoute } from "../parts/use-route.js";
import { visible } from "../parts/visible-text.js";
import { NewAccount } from "./access/new-account.js";
import { useControlTokenWant } from "./access/control-token.js";
import { Keys } from "./access/keys.js";
import { TokenForm } from "./access/token-form.js";
import { control, useLive, type Answer } from "./control.js";
import { Deliveries } from "./deliveries/deliveries.js";
import { EventView } from "./deliveries/event-view.js";
import { DeskContext, formatUtc, type Desk } from "./desk.js";
import { Clock } from "./emulator/clock.js";
import { Faults } from "./emulator/faults.js";
import { Signals } from "./emulator/signals.js";
import { Investigations } from "./investigations/investigations.js";
import { Overview } from "./overview.js";
import { BRAND, Problem, View } from "./panel.js";
import { Research } from "./research/research.js";
import { Webhooks } from "./webhooks/webhooks.js";

/** The views, by the first part of their path. The first one is shown for a path that is not known. `isBelow`: no link of its own. */
const VIEWS: readonly { path: string; label: string; Shown: () => JSX.Element; isBelow?: string }[] = [
  { path: "", label: "Overview", Shown: Overview },
  { path: "keys", label: "Keys", Shown: Keys },
  { path: "webhooks", label: "Webhooks", Shown: Webhooks },
  { path: "deliveries", label: "Deliveries", Shown: Deliveries },
  { path: "events", label: "Event", Shown: EventView, isBelow: "deliveries" },
  { path: "signals", label: "Signals", Shown: Signals },
  { path: "clock", label: "Clock", Shown: Clock },
  { path: "faults", label: "Faults", Shown: Faults },
  { path: "investigations", label: "Investigations", Shown: Investigations },
  { path: "research", label: "Research", Shown: Research },
];

export function Frame(): JSX.Element {
  const want = useControlTokenWant();
  if (want === "none") return <Views />;
  return (
    <PageFrame brand={BRAND} nav={[]}>
      <TokenForm wasWrong={want === "wrong"} />
    </PageFrame>
  );
}

const ACCOUNT = "signalbox-account";

function Views(): JSX.Element {
  const [first = "", ...rest] = useRoute().path;
  const [chosen, setChosen] = useState(Number(sessionStorage.getItem(ACCOUNT)));
  const [keys, setKeys] = useState<Readonly<Record<number, string>>>({});
  const { data, problem, reload } = useLive(loadDesk, []);

  function choose(accountId: number): void {
    sessionStorage.setItem(ACCOUNT, String(accountId));
    setChosen(accountId);
    reload();
  }

  const { path, Shown, isBelow } = VIEWS.find((view) => view.path === first) ?? VIEWS[0]!;
  const nav = VIEWS.filter((view) => view.isBelow === undefined).map((view) => ({
    label: view.label,
    href: href(view.path === "" ? [] : [view.path]),
    isCurrent: view.path === (isBelow ?? path),
  }));
  const account = data?.accounts.find(({ account_id }) => account_id === chosen) ?? data?.accounts[0];
  if (data === undefined || account === undefined) {
    return (
      <PageFrame brand={BRAND} nav={[]}>
        <Problem text={problem} />
        {data !== undefined && (
          <View title="The first account">
            <NewAccount onMade={choose} />
          </View>
        )}
      </PageFrame>
    );
  }
  const desk: Desk = {
    ...data,
    account,
    choose,
    apiKey: keys[account.account_id] ?? "",
    setApiKey: (key) => setKeys((previous) => ({ ...previous, [account.account_id]: key })),
    reload,
  };
  return (
    <DeskContext.Provider value={desk}>
      <PageFrame brand={BRAND} nav={nav} aside={<Aside desk={desk} isLost={problem !== undefined} />}>
        <Shown key={[path, ...rest, account.account_id].join("/")} />
      </PageFrame>
    </DeskContext.Provider>
  );
}

async function loadDesk(): Promise<Pick<Desk, "accounts" | "now">> {
  const [{ items }, { now }] = await Promise.all([
    control<Answer<"listAccounts">>("GET", "/accounts"),
    control<Answer<"now">>("GET", "/clock"),
  ]);
  return { accounts: items, now: Date.parse(now) };
}

function Aside({ desk: { account, accounts, choose, now }, isLost }: { desk: Desk; isLost: boolean }): JSX.Element {
  return (
    <>
      <label>
        <span class="muted">Account</span>{" "}
        <select value={account.account_id} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
          {accounts.map(({ account_id, name, tier }) => (
            <option key={account_id} value={account_id}>
              {visible(`${name} (${tier})`)}
            </option>
          ))}
        </select>
      </label>
      {isLost ? (
        <span class="problem" role="status">
          No answer from the emulator
        </span>
      ) : (
        <a href={href(["clock"])} title="The time of the emulator">
          {formatUtc(now).slice(0, 16)} UTC
        </a>
      )}
    </>
  );
}
