import { useState } from "preact/hooks";
import type { ActivityAnswer } from "../inbox-api.js";
import { formatCount, formatTime } from "../../text/format.js";
import { Panel, Problem } from "../../browser-parts/panel.js";
import { request } from "../../browser-parts/request.js";
import { useData } from "../../browser-parts/use-data.js";

const RANGES = ["hour", "day", "week"] as const;
const SERIES = [
  { of: "accepted", label: "Accepted", tone: "busy" },
  { of: "handedOff", label: "Handed off", tone: "good" },
  { of: "failed", label: "Failed attempts", tone: "bad" },
] as const;

type Range = (typeof RANGES)[number];

export function ActivityChart({ version }: { version: number }) {
  const [range, setRange] = useState<Range>("day");
  const ranges = RANGES.map((each) => (
    <button key={each} type="button" aria-pressed={each === range} onClick={() => setRange(each)}>
      {each.charAt(0).toUpperCase() + each.slice(1)}
    </button>
  ));
  return (
    <Panel title={`Activity in the last ${range}`} actions={ranges}>
      {/* The answer for one range says nothing about another one. */}
      <Chart key={range} range={range} version={version} />
    </Panel>
  );
}

/** The bars of each series stand in a row of their own, on the same axis of time, so that no colour has to be known. */
function Chart({ range, version }: { range: Range; version: number }) {
  const { data, problem, reload } = useData(version, (signal) =>
    request<ActivityAnswer>("GET", "api/activity", { query: { range }, signal }),
  );
  return (
    <>
      <Problem of={problem} onRetry={reload} />
      <div class="chart">
        {SERIES.map((series) => (
          <Bars key={series.of} {...series} range={range} answer={data} />
        ))}
      </div>
    </>
  );
}

type BarsProps = (typeof SERIES)[number] & { range: string; answer: ActivityAnswer | undefined };

function Bars({ of, label, tone, range, answer }: BarsProps) {
  const { activity, minutes, spans, now } = answer ?? { activity: [], minutes: 1, spans: 1, now: 0 };
  const spanMs = minutes * 60_000;
  const first = now - (now % spanMs) - (spans - 1) * spanMs;
  const total = formatCount(activity.reduce((sum, each) => sum + each[of], 0));
  const most = Math.max(1, ...activity.map((each) => each[of]));
  return (
    <>
      <span>
        {label} <strong>{answer === undefined ? "…" : total}</strong>
      </span>
      <svg
        class={`bars ${tone}`}
        viewBox={`0 0 ${spans} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label} in the last ${range}: ${total}. Most in ${formatCount(minutes, "minute")}: ${formatCount(most)}.`}
      >
        {activity.map((each) => {
          // Even one event can be seen.
          const height = each[of] === 0 ? 0 : Math.max(4, (each[of] / most) * 100);
          return (
            <rect key={each.at} x={(each.at - first) / spanMs + 0.1} y={100 - height} width={0.8} height={height}>
              <title>{`${formatTime(each.at)}: ${formatCount(each[of])}`}</title>
            </rect>
          );
        })}
      </svg>
    </>
  );
}
