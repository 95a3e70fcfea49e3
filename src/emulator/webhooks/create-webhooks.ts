import { registerWebhookBodySchema, type WebhookRegistration } from "../../api/webhook-registration.js";
import { systemClock } from "../../time/clock.js";
import type { EmulatorCore } from "../instance/core.js";
import { createCarryRequest } from "./faults/create-faulty-sender.js";
import { createFollows, type Follows } from "./registrations/create-follows.js";
import { createRegistrations, type Registrations } from "./registrations/create-registrations.js";
import { createDeliveryHistory, type DeliveryHistory } from "./deliveries/delivery-history.js";
import { createDeliveryDispatcher } from "./deliveries/dispatch-deliveries.js";
import { createOutbox } from "./deliveries/outbox.js";
import { createPublishSignal, type PublishSignal } from "./signals/publish-signal.js";
import type { ResolveName } from "./transport/resolve-name.js";
import { createRequestSender, type SendRequest } from "./transport/send-request.js";
import { createSettleDelivery } from "./deliveries/settle-delivery.js";
import { watchSettlements, type RegistrationTrouble } from "./deliveries/registration-trouble.js";
import { createWebhookFaults, type WebhookFaults } from "./faults/webhook-faults.js";

/** What the outside is made of. */
export interface WebhooksOptions {
  /** @default over HTTPS, from this machine */
  send?: SendRequest | undefined;
  /** @default the system's resolver */
  resolve?: ResolveName | undefined;
  /** Certificates of authorities to trust instead of those that Node does, PEM. */
  ca?: string | undefined;
  /** The machine's time, for signatures, if the assumption `signatureClock` wants that. @default the system's */
  machineNow?: (() => number) | undefined;
  /** Told of what goes wrong within the service itself, such as a full disk. @default nobody is */
  onFailure?: ((error: unknown) => void) | undefined;
  /** Told of a registration that a person has to do something about. @default nobody is */
  onTrouble?: ((trouble: RegistrationTrouble) => void) | undefined;
}

/** The service's side of signals: who gets them, and how they get there. */
export interface Webhooks {
  /** Operation 3: the registration with its secret, this once. @throws ServiceError */
  register(accountId: number, body: Record<string, unknown>): WebhookRegistration;
  registrations: Omit<Registrations, "register">;
  follows: Follows;
  publish: PublishSignal;
  deliveries: DeliveryHistory;
  faults: WebhookFaults;
  /** Ends what is on its way, which is sent again by whoever opens the database next. Before the scheduler's. Idempotent. */
  close(): Promise<void>;
}

export function createWebhooks(core: EmulatorCore, options: WebhooksOptions = {}): Webhooks {
  const { assumptions, clock, scheduler } = core;
  const { resolve, ca, machineNow = systemClock.now, onFailure = () => undefined, onTrouble } = options;
  const sender = createRequestSender({ assumptions, resolve, ca });
  const outbox = createOutbox(core);
  const registrations = createRegistrations(core, outbox);
  const faults = createWebhookFaults(core);
  const signingTime = assumptions.signatureClock === "machine" ? machineNow : clock.now;
  const settle = createSettleDelivery(core);
  const dispatcher = createDeliveryDispatcher(core, {
    carry: createCarryRequest(options.send ?? sender.send),
    settle: onTrouble ? watchSettlements(core, settle, { signingTime, machineNow, onTrouble, onFailure }) : settle,
    faults,
    onFailure,
    signingTime,
  });
  scheduler.add(dispatcher);

  return {
    register: (accountId, body) => registrations.register(accountId, registerWebhookBodySchema.parse(body)),
    registrations,
    follows: createFollows(core),
    publish: createPublishSignal(core, outbox),
    deliveries: createDeliveryHistory(core, outbox),
    faults,
    async close() {
      await dispatcher.close();
      sender.close();
    },
  };
}
