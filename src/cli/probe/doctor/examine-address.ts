import { LONGEST_ENDPOINT_URL } from "../../../service/contract/webhook-registration.js";
import {
  addressKind,
  isLoopbackHost,
  type AddressKind,
} from "../../../base/addresses/address-kind.js";
import { errorCode } from "../../console/exit.js";
import { blocker, ok, problem, warning, type Finding, type Subject } from "./examination.js";

export function examineUrl({ url }: Subject): Finding[] {
  const found = [...urlFaults(url)];
  return found.length > 0 ? found : [ok("url_form", "https, as the service requires")];
}

function* urlFaults(url: URL): Generator<Finding> {
  if (url.protocol !== "https:") {
    const fix =
      "Register an https address: put a proxy with a certificate in front of the receiver.";
    const found = "the URL is http, and the service registers only https";
    yield (isLoopbackHost(url.hostname) ? warning : problem)("url_not_https", found, fix);
  }
  if (url.href.length > LONGEST_ENDPOINT_URL) {
    const found = `the URL has ${url.href.length} characters, and the service allows ${LONGEST_ENDPOINT_URL}`;
    yield problem("url_too_long", found, "Mount the receiver on a shorter path.");
  }
  if (url.username !== "" || url.password !== "") {
    const fix = "Leave them out: deliveries are signed and need no password.";
    yield warning(
      "url_has_credentials",
      "the URL has a user name or a password, which the sender might not send",
      fix,
    );
  }
  if (url.hash !== "") {
    yield warning(
      "url_has_fragment",
      "the part of the URL after # is never sent",
      "Leave that part out.",
    );
  }
}

const FIX_PRIVATE =
  "Give the name a public address, or use a proxy or tunnel with a public address: the sender calls from the internet.";

export async function examineHost({ url, surroundings }: Subject): Promise<Finding[]> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  let addresses: readonly string[];
  try {
    addresses = await surroundings.resolve(host);
  } catch (error) {
    const fix =
      "Check the spelling of the name, and its A and AAAA records (`dig`). A new record becomes visible only after some time.";
    return [blocker("name_not_found", `${host} has no address (${errorCode(error)})`, fix)];
  }
  const kinds = new Map<AddressKind, string>(
    addresses.map((address) => [addressKind(address), address]),
  );
  const internal = [...kinds].filter(([kind]) => kind !== "public" && kind !== "loopback");
  if (internal.length > 0) {
    const list = internal.map(([kind, address]) => `${address} (${kind})`).join(", ");
    return [
      problem(
        "address_private",
        `${host} has an address that the sender cannot reach: ${list}`,
        FIX_PRIVATE,
      ),
    ];
  }
  if (kinds.has("loopback")) {
    const found = `${host} is this machine: enough for a trial, but the sender cannot reach this machine`;
    return [warning("address_local", found, FIX_PRIVATE)];
  }
  return [ok("address_public", `${host} is ${addresses.join(", ")}`)];
}
