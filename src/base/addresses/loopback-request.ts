import type { IncomingMessage } from "node:http";
import { addressKind, isLoopbackHost } from "./address-kind.js";

/**
 * A request with one of these headers came through a proxy, which may forward requests of any
 * machine.
 */
const PROXY_HEADER =
  /^(?:forwarded|via|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|x-forwarded(?:-.*)?)$/;

const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/;

/**
 * Whether a request was made on this machine: from a loopback address, to a loopback name, and not
 * through a proxy that can be noticed. The `Host` is checked because a name of another site can be
 * made to point to this machine (DNS rebinding). HTTP/1.0 is refused because nginx forwards with it
 * by default, without a header that tells of a proxy.
 */
export function isLoopbackRequest({ socket, headers, httpVersion }: IncomingMessage): boolean {
  return (
    addressKind(socket.remoteAddress ?? "") === "loopback" &&
    isLoopbackHost(HOST_AND_PORT.exec(headers.host ?? "")?.[1] ?? "") &&
    httpVersion !== "1.0" &&
    !Object.keys(headers).some((name) => PROXY_HEADER.test(name))
  );
}
