import { LONGEST_ENDPOINT_URL } from "../../../api/webhook-registration.js";
import { addressKind, isLoopbackHost, type AddressKind } from "../../../addresses/address-kind.js";
import { errorCode } from "../../console/error-code.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, warning, type Finding } from "./findings.js";

/** The rules of the service for a URL, and what follows from how HTTP works. */
export function examineUrl({ url }: Subject): Finding[] {
  const found = [...urlFaults(url)];
  return found.length > 0 ? found : [ok("url_form", "https, as the service wants it")];
}

function* urlFaults(url: URL): Generator<Finding> {
  if (url.protocol !== "https:") {
    const fix = "Register an https address: a proxy with a certificate in front of the receiver will do.";
    if (isLoopbackHost(url.hostname))
      yield warning("url_not_https", "http is good for a trial; the service registers only https", fix);
    else yield problem("url_not_https", "the URL is http, and the service registers only https", fix);
  }
  if (url.href.length > LONGEST_ENDPOINT_URL) {
    const found = `the URL has ${url.href.length} characters, and the service takes ${LONGEST_ENDPOINT_URL}`;
    yield problem("url_too_long", found, "Mount the receiver on a shorter path.");
  }
  if (url.username !== "" || url.password !== "") {
    const fix = "Leave them out: deliveries are signed, and need no password.";
    yield warning("url_has_credentials", "the URL has a user name or a password, which the service may not send", fix);
  }
  if (url.hash !== "") {
    yield warning("url_has_fragment", "the part of the URL after # is never sent", "Leave it out.");
  }
}

const FIX_PRIVATE =
  "Give the name a public address, or put a proxy or tunnel with one in front: the service calls from outside.";

export async function examineHost({ url, surroundings }: Subject): Promise<Finding[]> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  let addresses: readonly string[];
  try {
    addresses = await surroundings.resolve(host);
  } catch (error) {
    const fix = "Check the spelling of the name, and its A and AAAA records (`dig`). A new record takes a while.";
    return [blocker("name_not_found", `${host} has no address (${errorCode(error)})`, fix)];
  }
  const kinds = new Map<AddressKind, string>(addresses.map((address) => [addressKind(address), address]));
  const odd = [...kinds].filter(([kind]) => kind !== "public" && kind !== "loopback");
  if (odd.length > 0) {
    const list = odd.map(([kind, address]) => `${address} (${kind})`).join(", ");
    return [problem("address_private", `${host} is ${list} from here: not to be reached from outside`, FIX_PRIVATE)];
  }
  if (kinds.has("loopback")) {
    return [
      warning("address_local", `${host} is this machine: good for a trial, out of the service's reach`, FIX_PRIVATE),
    ];
  }
  return [ok("address_public", `${host} is ${addresses.join(", ")}`)];
}
