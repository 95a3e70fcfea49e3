import type { WebhookRegistration } from "../../../api/webhook-registration.js";
import { mayBeCalled, type EndpointRules } from "./endpoint-rules.js";

const LOOPBACK_ALLOWED: EndpointRules = { allowLoopbackHttp: true };

/**
 * The ids of registrations that were taken with `allowLoopbackHttp`, and get nothing without: a file keeps registrations, and
 * not what they were allowed by.
 */
export function unreachableRegistrations(
  registrations: readonly WebhookRegistration[],
  rules: EndpointRules,
): string[] {
  return registrations
    .filter(({ status }) => status !== "deleted")
    .filter(({ url }) => !mayBeCalled(url, rules) && mayBeCalled(url, LOOPBACK_ALLOWED))
    .map(({ id }) => id);
}
