import type { SignalEvent } from "../../../../kit/senders/signals/envelope.js";
import type { EmulatorCore } from "../../instance/core.js";
import { ServiceError } from "../../operations/service-error.js";
import type { WebhookFault } from "../faults/webhook-faults.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { RequestFailure } from "../transport/send-request.js";
import { EVENT_LIFE_MS, type Outbox, type DeliveryRow } from "./outbox.js";

/** Selects deliveries; an empty filter selects all. */
type DeliveryFilter = {
  [Column in "account_id" | "registration_id" | "event_id" | "event_type" | "state"]?:
    string | number | undefined;
} & {
  /** Selects deliveries with a smaller id: the next page. */
  before?: number | undefined;
  limit: number;
};

type ShownRow = DeliveryRow & { url: string; body: Buffer };

interface AttemptRow {
  started_at: number;
  sent_at: number;
  duration_ms: number;
  request_headers: string;
  status: number | null;
  failure: RequestFailure | null;
  answer_headers: string | null;
  answer_body: Buffer | null;
  faults: string;
}

const SHOWN = `SELECT d.*, r.url, e.body FROM delivery d
  JOIN registration r USING (registration_id)
  JOIN event e ON e.event_id = d.event_id AND e.locale = d.locale`;

/** Shows deliveries with their requests and answers, and sends them again. */
export function createDeliveryHistory(
  { database, clock, scheduler }: EmulatorCore,
  outbox: Outbox,
) {
  const find = database.prepare<[number], ShownRow>(`${SHOWN} WHERE d.delivery_id = ?`);
  const attemptsOf = database.prepare<[number], AttemptRow>(
    "SELECT * FROM attempt WHERE delivery_id = ? ORDER BY attempt_id",
  );
  const statusOf = database
    .prepare<[string], RegistrationRow["status"]>(
      "SELECT status FROM registration WHERE registration_id = ?",
    )
    .pluck();

  function rowOf(deliveryId: number): ShownRow {
    const row = find.get(deliveryId);
    if (row === undefined)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no delivery with this id.");
    return row;
  }

  const show = (row: ShownRow) => deliveryView(row, attemptsOf.all(row.delivery_id));

  return {
    /** Returns the newest delivery first. */
    list({ limit, before, ...equal }: DeliveryFilter) {
      const given = Object.entries(equal).filter(([, value]) => value !== undefined);
      // The names come from a strict schema, so they hold no SQL.
      const conditions = [
        "d.delivery_id < ?",
        ...given.map(([name]) => `${name === "account_id" ? "r" : "d"}.${name} = ?`),
      ].join(" AND ");
      const values = [before ?? Number.MAX_SAFE_INTEGER, ...given.map(([, value]) => value), limit];
      return database
        .prepare<unknown[], ShownRow>(
          `${SHOWN} WHERE ${conditions} ORDER BY d.delivery_id DESC LIMIT ?`,
        )
        .all(...values)
        .map(show);
    },
    /** @throws ServiceError `RESOURCE_NOT_FOUND` */
    read: (deliveryId: number) => show(rowOf(deliveryId)),
    /**
     * Sends the event of a delivery again. @returns the id of the new delivery. @throws
     * ServiceError
     */
    redeliver(deliveryId: number): number {
      const row = rowOf(deliveryId);
      if (statusOf.get(row.registration_id) !== "active") {
        throw new ServiceError(
          "STATE_CONFLICT",
          "A delivery can be repeated only for an active registration.",
        );
      }
      const isSignal = row.event_type === "signal.published";
      const expiresAt = isSignal ? row.expires_at : clock.now() + EVENT_LIFE_MS;
      if (expiresAt < clock.now()) {
        throw new ServiceError(
          "STATE_CONFLICT",
          "The signal was published more than 24 hours ago, so the service does not send it again.",
        );
      }
      const id = outbox.addAgain(row, expiresAt);
      scheduler.wake();
      return id;
    },
  };
}

const dateTime = (atMs: number): string => new Date(atMs).toISOString();

/** A delivery as the control API shows it. All times are date-times. */
function deliveryView(row: ShownRow, attempts: readonly AttemptRow[]) {
  return {
    delivery_id: row.delivery_id,
    registration_id: row.registration_id,
    event_id: row.event_id,
    event_type: row.event_type,
    /** What a signal says; null for another event. */
    signal: signalIn(row),
    state: row.state,
    created_at: dateTime(row.created_at),
    /** After this moment the delivery is not sent. */
    expires_at: dateTime(row.expires_at),
    /** Null unless the state is `waiting`. */
    next_attempt_at: row.state === "waiting" ? dateTime(row.due_at) : null,
    /** The id of the delivery that this one repeats; null for a delivery that the service made. */
    redelivery_of: row.redelivery_of,
    attempts: attempts.map((attempt) => attemptView(row, attempt)),
  };
}

function signalIn({
  event_type,
  body,
}: ShownRow): { signal_type: string; slug: string; title: string } | null {
  if (event_type !== "signal.published") return null;
  const { data } = JSON.parse(body.toString()) as SignalEvent;
  return { signal_type: data.signal_type, slug: data.product.slug, title: data.title };
}

const headersIn = (json: string | null) => JSON.parse(json ?? "{}") as Record<string, string>;

function attemptView({ url, body }: ShownRow, attempt: AttemptRow) {
  const {
    started_at,
    sent_at,
    duration_ms,
    request_headers,
    status,
    answer_headers,
    answer_body,
    failure,
  } = attempt;
  return {
    /** By the emulator's clock. */
    started_at: dateTime(started_at),
    /**
     * The same moment, by the machine's clock: unlike `started_at` it can be compared with a
     * receiver's times.
     */
    sent_at: dateTime(sent_at),
    /** In real time, to the last byte of the answer. */
    duration_ms,
    request: {
      method: "POST",
      url,
      headers: headersIn(request_headers),
      body: body.toString("utf8"),
    },
    /** The answer with up to 16 KiB of its body; null when there was no answer. */
    answer:
      status === null
        ? null
        : { status, headers: headersIn(answer_headers), body: answer_body?.toString("utf8") ?? "" },
    /** Why there was no answer. */
    failure,
    /**
     * The faults that were applied. With `status`, the attempt counted as if the answer had had
     * that status.
     */
    faults: JSON.parse(attempt.faults) as Pick<WebhookFault, "kind" | "value">[],
  };
}
