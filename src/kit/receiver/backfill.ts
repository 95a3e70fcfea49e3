import { SignalboxError } from "../../base/errors.js";
import { readable } from "../senders/engine/define-sender.js";
import type { RequestHeaders } from "../senders/engine/headers.js";
import type { ReceiverConfig } from "./options.js";
import type { RejectionCode } from "./rejection.js";
import { receivedBy, TENANT, type StoreEvent } from "./store-event.js";

/** An event that came by the sender's API, and not in a delivery. */
export interface BackfilledEvent {
  /**
   * The event as the sender would deliver it: an object of its API as JSON. A text is stored as
   * UTF-8.
   */
  body: Uint8Array | string;
  /**
   * The headers that a delivery of it would have, where the sender reads its id or type from them.
   * @default none
   */
  headers?: RequestHeaders | undefined;
  /** Whose event it is: required with the option `tenant`. */
  tenant?: string | undefined;
}

/** What became of a {@link BackfilledEvent}. */
export interface BackfillResult {
  /** `duplicate`: its id is stored, with whatever body. */
  status: "accepted" | "duplicate" | "quarantined";
  /** As `inbox.get` takes it. */
  eventId: string;
  /** Empty for unusable bytes. */
  type: string;
}

interface BackfillConfig extends Pick<ReceiverConfig, "sender" | "clock" | "maxQueued" | "tenant"> {
  store: StoreEvent;
}

/** Makes `receiver.accept`. */
export function createBackfill(config: BackfillConfig) {
  const { sender, clock, store } = config;

  return async function accept(event: BackfilledEvent): Promise<BackfillResult> {
    // A caller without types may pass nothing.
    const { body, headers = {}, tenant } = (event as BackfilledEvent | undefined) ?? {};
    if (typeof body !== "string" && !(body instanceof Uint8Array)) {
      const help = "Pass the event as text: { body: JSON.stringify(event) }.";
      throw refused("receiver.accept needs a body of bytes or text.", help);
    }
    if (config.tenant === undefined && tenant !== undefined) {
      const help = "Leave it out, or give createReceiver the option tenant.";
      throw refused("receiver.accept was given a tenant, and this receiver has none.", help);
    }
    if (config.tenant !== undefined && !(typeof tenant === "string" && TENANT.test(tenant))) {
      const help = "Pass { body, tenant }: 1 to 64 of a-z, 0-9, _ and -.";
      throw refused("receiver.accept needs the tenant of the event.", help);
    }
    // The overloads of Buffer.from take one of them each.
    const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
    const received = { ...receivedBy(sender, headers, clock.now()), backfilled: true as const };
    if (tenant !== undefined) received.tenant = tenant;
    const reading = sender.read(readable(bytes, received.headers));
    if (reading.kind === "challenge")
      throw refused("receiver.accept was given a verification, which is no event.");
    const stored = await store(reading, received, bytes, null);
    if ("code" in stored) throw notAccepted(stored.code, bytes.byteLength, config.maxQueued.bytes);
    const { outcome, eventId, type } = stored;
    return { status: outcome === "conflict" ? "accepted" : outcome, eventId, type };
  };
}

const refused = (message: string, help = "") => new SignalboxError("option_invalid", message, help);

function notAccepted(code: RejectionCode, size: number, most: number): SignalboxError {
  if (code === "closing")
    return new SignalboxError("receiver_closed", "This receiver is closing or closed.", "");
  if (code === "tenant_mismatch") return refused("The event is not of this tenant.");
  if (code === "overloaded" && size > most) {
    const help =
      "Raise maxQueued: { bytes } of createReceiver above the size of its largest event.";
    return refused(`The body has ${size} bytes, and maxQueued.bytes is ${most}.`, help);
  }
  const [message, help] =
    code === "overloaded"
      ? ["Too much waits to be stored.", "Await each receiver.accept before the next."]
      : ["The receiver is not started.", "Await receiver.start() first."];
  return new SignalboxError("store_failed", message, help);
}
