import type { SignalEvent } from "../events/envelope.js";

/** Any part of a signal; what is left out is filled in. */
export type SignalEventOverrides = Partial<Omit<SignalEvent, "data">> & { data?: DeepPartial<SignalEvent["data"]> };

type DeepPartial<Value> = Value extends readonly unknown[] | string | number | boolean | null
  ? Value
  : { [Key in keyof Value]?: DeepPartial<Value[Key]> };

let lastSignalId = 0;

/**
 * A sound signal with an id of its own. Overrides are merged in, however deep; the id follows `signal_id` and
 * `product.id` unless it is given.
 *
 * @example
 * signalEvent({ data: { signal_type: "price_increased", product: { slug: "acme" } } });
 */
export function signalEvent(overrides: SignalEventOverrides = {}): SignalEvent {
  lastSignalId += 1;
  const now = new Date().toISOString();
  const event = merge(
    {
      id: "",
      version: "1",
      type: "signal.published",
      created_at: now,
      data: {
        signal_id: lastSignalId,
        signal_type: "traffic_breakout",
        product: { id: 4711, slug: "example-product" },
        title: "Example Product: monthly traffic rose",
        summary: "Visits rose from 1,000 to 1,500 in a month.",
        change: {
          direction: "up",
          magnitude: 0.5,
          before: { value: 1000, unit: "visits" },
          after: { value: 1500, unit: "visits" },
        },
        observed_at: now,
        period: { start: "2026-01-01", end: "2026-01-31" },
        published_at: now,
        evidence_summary: "Two comparable monthly samples.",
        url: "https://catalog.example/en/tools/example-product",
      },
    },
    overrides,
  ) as SignalEvent;
  return event.id === "" ? { ...event, id: `sig_${event.data.signal_id}_${event.data.product.id}` } : event;
}

function merge(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isPlainObject(base) || !isPlainObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = merge(base[key], value);
  return merged;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
