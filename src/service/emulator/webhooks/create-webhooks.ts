import { systemClock } from "../../../base/time/clock.js";
import type { WebhookRegistration } from "../../contract/webhook-registration.js";
import type { EmulatorCore } from "../instance/core.js";
import type { ReportEvent } from "../instance/events.js";
import type { SignalDraft } from "../market/signals/derive-signals.js";
import { createDeliveryHistory } from "./deliveries/delivery-history.js";
import { createDeliveryDispatcher } from "./deliveries/dispatch-deliveries.js";
import { createOutbox } from "./deliveries/outbox.js";
import {
  createPublishSignal,
  type PublishedSignal,
  type PublishOptions,
} from "./deliveries/publish-signal.js";
import { createWebhookFaults } from "./faults/webhook-faults.js";
import {
  createFollows,
  createRegistrations,
  type RegistrationBody,
} from "./registrations/create-registrations.js";
import { shownEndpoint } from "./registrations/registration-row.js";
import { createRequestSender, type SendRequest } from "./transport/send-request.js";

export interface WebhooksOptions {
  /** For tests. @default over HTTPS, from this machine */
  send?: SendRequest | undefined;
  /** The only certificate authorities to trust, PEM. @default those that Node trusts */
  ca?: string | undefined;
  /** The machine's time. @default the system's clock */
  machineNow?: (() => number) | undefined;
  /** Called with each event of registrations and deliveries. Must not throw. @default none */
  report?: ReportEvent | undefined;
}

/** The service's side of webhooks: registrations, follows, and deliveries. */
export type Webhooks = ReturnType<typeof createWebhooks>;

export function createWebhooks(core: EmulatorCore, options: WebhooksOptions = {}) {
  const { assumptions, clock, scheduler } = core;
  const { ca, machineNow = systemClock.now } = options;
  const { send = createRequestSender({ assumptions, ca }) } = options;
  const report: ReportEvent = (event) =>
    options.report?.(scheduler.isAdvancing ? { ...event, during_advance: true } : event);
  const outbox = createOutbox(core);
  const registrations = createRegistrations(core, outbox);
  const faults = createWebhookFaults(core);
  const publish = createPublishSignal(core, outbox);
  const signingTime = assumptions.signatureClock === "machine" ? machineNow : clock.now;
  const parts = { send, faults, report, signingTime, machineNow };
  const dispatcher = createDeliveryDispatcher(core, parts);
  scheduler.add(dispatcher);

  return {
    /** The operation registerWebhook. No later answer contains the secret. @throws ServiceError */
    register(accountId: number, body: RegistrationBody): WebhookRegistration {
      const registration = registrations.register(accountId, body);
      const { id: registration_id, url, signal_types } = registration;
      const facts = {
        registration_id,
        endpoint: shownEndpoint(url),
        signal_types: signal_types.length,
      };
      report({ event: "registered", account_id: accountId, ...facts });
      return registration;
    },
    registrations,
    follows: createFollows(core),
    publish(draft: SignalDraft, publishOptions?: PublishOptions): PublishedSignal {
      const published = publish(draft, publishOptions);
      const { signal_type, tool_id } = draft;
      report({ event: "published", signal_type, tool_id, ...published });
      return published;
    },
    deliveries: createDeliveryHistory(core, outbox),
    faults,
    /**
     * Aborts the requests in flight. They are sent again after the database was opened again.
     * Idempotent.
     */
    close: dispatcher.close,
  };
}
