import { z } from "zod";
import { controlOperation } from "../../control/control-operation.js";
import type { Webhooks } from "../create-webhooks.js";
import { DELIVERY_STATES, EVENT_TYPES } from "../deliveries/outbox.js";
import type { WebhookFault } from "../faults/webhook-faults.js";

const registration_id = z.string();
const deliveryId = z.int().min(1);
const times = z.int().min(1).nullable().default(null);
const milliseconds = z.int().min(0).max(600_000);

const listInput = z.strictObject({
  account_id: z.int().min(1).optional(),
  registration_id: registration_id.optional(),
  event_id: z.string().optional(),
  event_type: z.enum(EVENT_TYPES).optional(),
  state: z.enum(DELIVERY_STATES).optional(),
  before: deliveryId.optional(),
  limit: z.int().min(1).max(500).default(50),
});

const faultInput = z.discriminatedUnion("kind", [
  z.strictObject({
    registration_id,
    times,
    kind: z.literal("status"),
    value: z.int().min(200).max(599),
  }),
  z.strictObject({ registration_id, times, kind: z.literal("latency"), value: milliseconds }),
  z.strictObject({
    registration_id,
    times,
    kind: z.literal("reorder"),
    value: milliseconds.default(2000),
  }),
  z.strictObject({ registration_id, times, kind: z.enum(["cut_body", "reset", "duplicate"]) }),
]);

/** The control operations on deliveries and their faults. */
export function deliveriesControl({ deliveries, registrations, faults }: Webhooks) {
  const listed = (id?: string): { items: WebhookFault[] } => ({ items: faults.list(id) });
  return {
    listDeliveries: controlOperation(
      "GET /deliveries",
      "Lists deliveries, the newest first, with each request, its answer and how long it took. For the next page, set before to the smallest id of this page.",
      listInput,
      (filter) => ({ items: deliveries.list(filter) }),
    ),
    readDelivery: controlOperation(
      "GET /deliveries/{delivery_id}",
      "Shows a delivery with each request, its answer and how long it took.",
      { delivery_id: deliveryId },
      ({ delivery_id }) => deliveries.read(delivery_id),
    ),
    redeliver: controlOperation(
      "POST /deliveries/{delivery_id}/redeliver",
      "Sends the event of a delivery again, with the same id and bytes and a new signature.",
      { delivery_id: deliveryId },
      ({ delivery_id }) => ({ delivery_id: deliveries.redeliver(delivery_id) }),
    ),
    listDeliveryFaults: controlOperation(
      "GET /faults/deliveries",
      "Lists the faults of deliveries, for one registration or for all registrations.",
      { registration_id: registration_id.optional() },
      ({ registration_id: id }) => listed(id),
    ),
    setDeliveryFault: controlOperation(
      "POST /faults/deliveries",
      "Sets a fault for the next requests to a registration, whose number is in times. Without times, the fault stays until it is cleared.",
      faultInput,
      (fault) => {
        registrations.read(fault.registration_id);
        faults.set({ value: null, ...fault });
        return listed(fault.registration_id);
      },
    ),
    clearDeliveryFaults: controlOperation(
      "DELETE /faults/deliveries/{registration_id}",
      "Clears the faults of a registration.",
      { registration_id },
      ({ registration_id: id }) => {
        registrations.read(id);
        faults.clear(id);
        return listed(id);
      },
    ),
  };
}
