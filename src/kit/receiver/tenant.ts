import { ignore } from "../../base/errors.js";
import { TENANT } from "../inbox/tenant.js";
import { recordOf } from "../senders/engine/headers.js";
import type { Reading } from "../senders/engine/sender.js";
import type { DeliveryRequest } from "./delivery.js";

/** What the option `tenant` is told of a delivery. Nothing of it is proved yet. */
export interface TenantRequest {
  /** Path and query as they were sent, also below a mount of the framework. */
  url: string;
  /** All headers, by their names in lower case. */
  headers: Readonly<Record<string, string>>;
}

/** Told which option failed, and how. Must not throw. */
type OnProblem = (option: "tenant" | "tenantOf", problem: unknown) => void;

/** Makes what finds the tenant of a request; null when it has none. */
export function createFindTenant(
  tenant: (request: TenantRequest) => string | null,
  onProblem: OnProblem,
) {
  return ({ url, headers }: Pick<DeliveryRequest, "url" | "headers">): string | null => {
    try {
      const found: unknown = tenant({ url: pathOf(url) ?? "", headers: recordOf(headers) });
      // `match?.[1]` is undefined where nothing matches, and a sender may write any text.
      if (found === null || found === undefined) return null;
      if (typeof found !== "string") throw notText(found);
      return TENANT.test(found) ? found : null;
    } catch (error) {
      onProblem("tenant", error);
      return null;
    }
  };
}

/** Makes what asks a signed event whether it is the tenant's. */
export function createIsOfTenant(tenantOf: (event: never) => string, onProblem: OnProblem) {
  return (reading: Reading, tenant: string | undefined): boolean => {
    try {
      // What cannot be read says of no tenant that it is its own.
      if (reading.kind !== "event") throw new TypeError("the event cannot be read");
      const found: unknown = tenantOf(reading.event as never);
      if (typeof found !== "string") throw notText(found);
      return found === tenant;
    } catch (error) {
      onProblem("tenantOf", error);
      return false;
    }
  };
}

function notText(found: unknown): TypeError {
  // The rejection of an async function would end the process.
  if (found instanceof Promise) found.catch(ignore);
  return new TypeError(`it returned ${found instanceof Promise ? "a promise" : typeof found}`);
}

/** The path and query alone, also of an address. */
export function pathOf(url: string | undefined): string | undefined {
  return url?.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
}
