import type { EmulatorCore } from "../../instance/core.js";
import { ServiceError } from "../../operations/service-error.js";
import { dateTime } from "../../time/emulator-clock.js";
import type { SentRequest } from "../faults/webhook-faults.js";
import { findRegistration } from "../registrations/registration-row.js";
import type { RequestFailure } from "../transport/send-request.js";
import { DELIVERIES, EVENT_LIFE_MS, signalIn, type EventDelivery, type Outbox } from "./outbox.js";

/** Selects deliveries; an empty filter selects all. */
type DeliveryFilter = {
  [Column in "account_id" | "registration_id" | "event_id" | "event_type" | "state"]?:
    string | number | undefined;
} & {
  /** Selects deliveries with a smaller id: the next page. */
  before?: number | undefined;
  limit: number;
};

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

/** Shows deliveries with their requests and answers, and sends them again. */
export function createDeliveryHistory(
  { database, clock, scheduler }: EmulatorCore,
  outbox: Outbox,
) {
  function rowOf(deliveryId: number): EventDelivery {
    const row = database.row<EventDelivery>(`${DELIVERIES} WHERE d.delivery_id = ?`, deliveryId);
    if (row === undefined)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no delivery with this id.");
    return row;
  }

  function show(row: EventDelivery) {
    const sql = "SELECT * FROM attempt WHERE delivery_id = ? ORDER BY attempt_id";
    return deliveryView(row, database.rows<AttemptRow>(sql, row.delivery_id));
  }

  return {
    /** Returns the newest delivery first. */
    list({ limit, before = Number.MAX_SAFE_INTEGER, ...equal }: DeliveryFilter) {
      const given = Object.entries(equal).filter(([, value]) => value !== undefined);
      // The names come from a strict schema, so they hold no SQL.
      const conditions = [
        "d.delivery_id < ?",
        ...given.map(([name]) => `${name === "account_id" ? "r" : "d"}.${name} = ?`),
      ].join(" AND ");
      const sql = `${DELIVERIES} WHERE ${conditions} ORDER BY d.delivery_id DESC LIMIT ?`;
      const values = [before, ...given.map(([, value]) => value), limit];
      return database.rows<EventDelivery>(sql, ...values).map(show);
    },
    /** @throws ServiceError `RESOURCE_NOT_FOUND` */
    read: (deliveryId: number) => show(rowOf(deliveryId)),
    /**
     * Sends the event of a delivery again. @returns the id of the new delivery. @throws
     * ServiceError
     */
    redeliver(deliveryId: number): number {
      const row = rowOf(deliveryId);
      if (findRegistration(database, row.registration_id)?.status !== "active") {
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

/** A delivery as the control API shows it. All times are date-times. */
function deliveryView(row: EventDelivery, attempts: readonly AttemptRow[]) {
  const signal = signalIn(row);
  return {
    delivery_id: row.delivery_id,
    registration_id: row.registration_id,
    event_id: row.event_id,
    event_type: row.event_type,
    /** What a signal says; null for another event. */
    signal: signal && {
      signal_type: signal.signal_type,
      slug: signal.product.slug,
      title: signal.title,
    },
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

const headersIn = (json: string | null) => JSON.parse(json ?? "{}") as Record<string, string>;

function attemptView({ url, body }: EventDelivery, attempt: AttemptRow) {
  const { status, answer_headers, answer_body } = attempt;
  return {
    /** By the emulator's clock. */
    started_at: dateTime(attempt.started_at),
    /**
     * The same moment, by the machine's clock: unlike `started_at` it can be compared with a
     * receiver's times.
     */
    sent_at: dateTime(attempt.sent_at),
    /** In real time, to the last byte of the answer. */
    duration_ms: attempt.duration_ms,
    request: {
      method: "POST",
      url,
      headers: headersIn(attempt.request_headers),
      body: body.toString("utf8"),
    },
    /** The answer with up to 16 KiB of its body; null when there was no answer. */
    answer:
      status === null
        ? null
        : { status, headers: headersIn(answer_headers), body: answer_body?.toString("utf8") ?? "" },
    /** Why there was no answer. */
    failure: attempt.failure,
    /**
     * The faults that were applied. With `status`, the attempt counted as if the answer had had
     * that status.
     */
    faults: JSON.parse(attempt.faults) as SentRequest["faults"],
  };
}
