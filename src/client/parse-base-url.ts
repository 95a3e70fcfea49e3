import { isLoopbackHost } from "../addresses/address-kind.js";

/** What a base address is good for: the address without a slash at its end, or why it is none. */
export type ParsedBaseUrl = { ok: true; baseUrl: string } | { ok: false; problem: string };

/**
 * The address that the API's paths are appended to. Plain HTTP only to this machine: the key would cross the network in
 * the clear.
 */
export function parseBaseUrl(text: string): ParsedBaseUrl {
  if (!URL.canParse(text)) return { ok: false, problem: "expected an address such as https://api.example/v1" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return { ok: false, problem: "expected https" };
  if (url.username !== "" || url.password !== "")
    return { ok: false, problem: "expected no name and no password in it" };
  if (url.search !== "" || url.hash !== "") return { ok: false, problem: "expected no query and no fragment in it" };
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return {
      ok: false,
      problem: "expected https; http would show the API key to the network, and is for loopback alone",
    };
  }
  return { ok: true, baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}
