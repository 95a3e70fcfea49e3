import type { Assumptions } from "../assumptions.js";
import { ServiceError } from "../service-error.js";

/**
 * The rules of a registered url (service document, operation 3), as far as its text shows them; the addresses that its
 * name resolves to are looked at when something is sent.
 *
 * @throws ServiceError `INVALID_PARAMETERS`
 */
export function refuseEndpoint(url: string, assumptions: Assumptions): void {
  const { protocol, username, password, hash } = new URL(url);
  const problem =
    protocol !== "https:" && !(protocol === "http:" && assumptions.allowLoopbackHttp)
      ? "has to be an HTTPS endpoint"
      : username !== "" || password !== ""
        ? "must not hold a user name or a password"
        : hash !== ""
          ? "must not hold a fragment"
          : null;
  if (problem === null) return;
  throw new ServiceError("INVALID_PARAMETERS", `The parameter url ${problem}.`, {
    details: [{ parameter: "url", problem }],
  });
}
