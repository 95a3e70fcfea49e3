import { useState } from "preact/hooks";
import { formatCount, formatDuration } from "../../../base/text/format.js";
import { DURATION_BOUNDS_MS, percentileOf } from "../../../kit/inbox/activity.js";
import type { EventState } from "../../../kit/inbox/stored-events.js";
import {
  Facts,
  go,
  Problem,
  request,
  shortTime,
  type Tone,
  useData,
  usePage,
} from "../../parts/index.js";
import type { ActivityAnswer, Overview } from "../inbox-api.js";
import { countOf, termIn, withTerm } from "./find-events.js";

const RANGES = ["Hour", "Day", "Week"] as const;
const NOTHING: ActivityAnswer = { activity: [], minutes: 1, spans: 1, now: 0 };

type Point = ActivityAnswer["activity"][number];

interface ActivityChartProps {
  /** The chart is of its endpoint. */
  search: string;
  overview: Overview | undefined;
}

/** What happened lately: a stack for each span of time, and numbers that sum up. */
export function ActivityChart({ search, overview }: ActivityChartProps) {
  const { now: present } = usePage();
  const [range, setRange] = useState<(typeof RANGES)[number]>("Day");
  /** The spans that begin at these times, where the reader began first. */
  const [marked, setMarked] = useState<readonly [start: number, end: number]>();
  const endpoint = termIn(search, "endpoint");
  const of = `${range} ${endpoint}`;
  const { data, problem, reload } = useData(of, async (signal) => {
    const query = { range: range.toLowerCase(), endpoint };
    return { of, ...(await request<ActivityAnswer>("GET", "api/activity", { query, signal })) };
  });
  // The answer for one range or endpoint says nothing about another one.
  const isKnown = data?.of === of;
  const { activity, minutes, spans, now } = isKnown ? data : NOTHING;
  const spanMs = minutes * 60_000;
  const first = now - (now % spanMs) - (spans - 1) * spanMs;
  const most = Math.max(
    1,
    ...activity.map((point) => partsOf(point).reduce((sum, [, count]) => sum + count, 0)),
  );
  const timeOf = (span: number): number => first + span * spanMs;
  const [start, end] = (marked ?? [first, now]).map((at) => Math.floor((at - first) / spanMs)) as [
    number,
    number,
  ];
  const [from, to] = [Math.min(start, end), Math.max(start, end)];
  const points = activity.filter(({ at }) => at >= timeOf(from) && at <= timeOf(to));
  const inState = (...states: EventState[]): number =>
    marked === undefined
      ? states.reduce((sum, state) => sum + countOf(overview, state, endpoint), 0)
      : 0;
  const waiting = inState("ready", "leased");
  const lost = inState("dead", "quarantined");
  const { received, done, ignored, failed, times } = numbersOf(points);
  // It was discarded or erased. Below zero: some were replayed, or received before.
  const rest = received - done - ignored - waiting - lost;

  function mark(span: number, isStart: boolean): void {
    const at = timeOf(Math.max(0, Math.min(spans - 1, span)));
    setMarked([isStart || marked === undefined ? at : marked[0], at]);
  }
  function hover(event: PointerEvent & { currentTarget: Element }, isStart: boolean): void {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    mark(Math.floor(((event.clientX - left) / width) * spans), isStart);
  }
  function press(event: KeyboardEvent): void {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
    const step = key === "ArrowLeft" ? -1 : Number(key === "ArrowRight");
    if (altKey || ctrlKey || metaKey) return;
    if (step !== 0) mark((marked ? end : spans) + step, !shiftKey);
    else if (marked && key === "Enter") narrow();
    else if (marked && key === "Escape") setMarked(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** Searches in what is marked. */
  function narrow(): void {
    const [after = "", before = ""] = [from, to + 1].map((span) =>
      new Date(timeOf(span)).toISOString().replace(":00.000", ""),
    );
    go([], { q: withTerm(withTerm(search, "after", after), "before", before) });
  }

  const begins = shortTime(timeOf(from), present);
  const ends = to === spans - 1 ? "now" : shortTime(timeOf(to + 1), present);
  const facts = {
    received,
    "handed off": done,
    ignored: ignored > 0 && ignored,
    waiting: waiting > 0 && waiting,
    "given up": lost > 0 && <span class="problem">{formatCount(lost)}</span>,
    otherwise: marked === undefined && rest > 0 && rest,
    "replayed, older": marked === undefined && rest < 0 && -rest,
    "failed tries": marked !== undefined && failed,
    "p50, p95 below": times,
  };
  const spoken = Object.entries(facts).flatMap(([name, value]) =>
    typeof value === "number" || typeof value === "string" ? `${name} ${value}` : [],
  );

  return (
    <section class="strip" aria-label={`Activity in the last ${range.toLowerCase()}`}>
      <Problem of={problem} onRetry={reload} />
      <div>
        <svg
          class="bars"
          viewBox={`0 0 ${spans} 100`}
          preserveAspectRatio="none"
          tabIndex={0}
          role="slider"
          aria-label="Received in each span of time"
          aria-valuemax={spans - 1}
          aria-valuenow={end}
          aria-valuetext={`${begins} to ${ends}: ${spoken.join(", ")}`}
          onKeyDown={press}
          onBlur={() => setMarked(undefined)}
          onPointerDown={(event) => hover(event, true)}
          onPointerMove={(event) => hover(event, event.buttons === 0)}
          onPointerUp={narrow}
          onPointerLeave={() => setMarked(undefined)}
        >
          {marked && <rect x={from} width={to - from + 1} height={100} />}
          {activity.flatMap((point) => {
            let y = 100;
            return partsOf(point).map(([tone, count]) => {
              // Even one event can be seen.
              const height = count === 0 ? 0 : Math.max(3, (count / most) * 96);
              y -= height;
              const x = (point.at - first) / spanMs + 0.1;
              return (
                <rect key={`${x}${tone}`} class={tone} x={x} y={y} width={0.8} height={height} />
              );
            });
          })}
        </svg>
        <p class="axis muted">
          {begins}
          <span class="toolbar">
            {RANGES.map((each) => (
              <button
                key={each}
                type="button"
                class="small"
                aria-pressed={each === range}
                onClick={() => setRange(each)}
              >
                {each}
              </button>
            ))}
          </span>
          {ends}
        </p>
      </div>
      {isKnown && <Facts of={facts} />}
    </section>
  );
}

/** The parts of a stack, from below. What does not end in its span waits, unless it fails. */
function partsOf({ accepted, handedOff, ignored, failed }: Point): [Tone, number][] {
  const done = handedOff + ignored;
  return [
    ["idle", done],
    ["warn", Math.max(0, accepted - done - failed)],
    ["bad", failed],
  ];
}

/** What happened in these spans. */
function numbersOf(points: readonly Point[]) {
  const total = (of: "accepted" | "handedOff" | "ignored" | "failed"): number =>
    points.reduce((sum, point) => sum + point[of], 0);
  const durations = [...DURATION_BOUNDS_MS, Infinity].map((_, index) =>
    points.reduce((sum, point) => sum + (point.durations[index] ?? 0), 0),
  );
  const below = (percent: number): string => {
    const ms = percentileOf(durations, percent);
    return ms === Infinity ? "over an hour" : formatDuration(ms ?? 0);
  };
  return {
    received: total("accepted"),
    done: total("handedOff"),
    ignored: total("ignored"),
    failed: total("failed"),
    times: durations.some(Boolean) && `${below(50)}, ${below(95)}`,
  };
}
