import { useState } from "preact/hooks";
import { formatCount, formatTime } from "../../../base/text/format.js";
import { Problem, request, useData } from "../../parts/index.js";
import type { ActivityAnswer } from "../inbox-api.js";

const RANGES = ["hour", "day", "week"] as const;
/** In the order of their bars within a span. */
const SERIES = [
  { of: "accepted", label: "accepted", tone: "busy" },
  { of: "handedOff", label: "handed off", tone: "good" },
  { of: "failed", label: "failed", tone: "bad" },
] as const;

type Range = (typeof RANGES)[number];

/** What happened lately, as a strip: three bars for each span of time, on one scale. */
export function ActivityChart() {
  const [range, setRange] = useState<Range>("day");
  return (
    <section class="strip" aria-label={`Activity in the last ${range}`}>
      {/* The answer for one range says nothing about another one. */}
      <Chart key={range} range={range} />
      <div class="toolbar">
        {RANGES.map((each) => (
          <button
            key={each}
            type="button"
            class="small"
            aria-pressed={each === range}
            onClick={() => setRange(each)}
          >
            {each.charAt(0).toUpperCase() + each.slice(1)}
          </button>
        ))}
      </div>
    </section>
  );
}

const NOTHING: ActivityAnswer = { activity: [], minutes: 1, spans: 1, now: 0 };

function Chart({ range }: { range: Range }) {
  const { data, problem, reload } = useData(range, (signal) =>
    request<ActivityAnswer>("GET", "api/activity", { query: { range }, signal }),
  );
  const { activity, minutes, spans, now } = data ?? NOTHING;
  const spanMs = minutes * 60_000;
  const first = now - (now % spanMs) - (spans - 1) * spanMs;
  const most = Math.max(1, ...activity.flatMap((each) => SERIES.map(({ of }) => each[of])));
  const totals = SERIES.map(({ of, label, tone }) => {
    const total = activity.reduce((sum, each) => sum + each[of], 0);
    return { of, tone, text: `${data === undefined ? "…" : formatCount(total)} ${label}` };
  });
  const scale = `most ${formatCount(most)} in ${formatCount(minutes, "minute")}`;
  return (
    <>
      <Problem of={problem} onRetry={reload} />
      <ul class="legend">
        {totals.map(({ of, tone, text }) => (
          <li key={of} class={tone}>
            {text}
          </li>
        ))}
      </ul>
      <div>
        <svg
          class="bars"
          viewBox={`0 0 ${spans} 100`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`In the last ${range}: ${totals.map(({ text }) => text).join(", ")}; ${scale}.`}
        >
          {activity.flatMap((each) =>
            SERIES.map(({ of, label, tone }, index) => {
              // Even one event can be seen.
              const height = each[of] === 0 ? 0 : Math.max(6, (each[of] / most) * 100);
              const x = (each.at - first) / spanMs + 0.05 + index * 0.3;
              return (
                <rect
                  key={`${each.at} ${of}`}
                  class={tone}
                  x={x}
                  y={100 - height}
                  width={0.3}
                  height={height}
                >
                  <title>{`${formatTime(each.at)}: ${formatCount(each[of])} ${label}`}</title>
                </rect>
              );
            }),
          )}
        </svg>
        {data !== undefined && (
          <p class="axis muted">
            <span>{shortTime(first, range)}</span>
            <span>{scale}</span>
            <span>now</span>
          </p>
        )}
      </div>
    </>
  );
}

function shortTime(ms: number, range: Range): string {
  const text = formatTime(ms);
  return range === "hour" ? `${text.slice(11, 16)}Z` : `${text.slice(5, 16)}Z`;
}
