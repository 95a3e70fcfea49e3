import type { IncomingMessage } from "node:http";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { addressKind, isLoopbackHost } from "../../../../src/base/addresses/address-kind.js";
import { isLoopbackRequest } from "../../../../src/base/addresses/loopback-request.js";

interface Given {
  from?: string | null;
  httpVersion?: string;
  headers?: Record<string, string>;
}
const { hosts, requests, neither, ...kinds } = JSON.parse(
  readFileSync(new URL("addresses.json", import.meta.url), "utf8"),
) as Record<"public" | "loopback" | "neither", string[]> & {
  hosts: Record<"loopback" | "elsewhere", string[]>;
  requests: Record<"here" | "elsewhere", Given[]>;
};

test.each(Object.entries(kinds))("addresses that are %s", (kind, addresses) => {
  for (const address of addresses) expect(addressKind(address), address).toBe(kind);
});

test.each(neither)("%j is neither public nor this machine", (address) => {
  expect(["public", "loopback"]).not.toContain(addressKind(address));
});

test("a host leads to this machine, or perhaps elsewhere", () => {
  expect(hosts.loopback.filter((host) => !isLoopbackHost(host))).toEqual([]);
  expect(hosts.elsewhere.filter(isLoopbackHost)).toEqual([]);
});

const isAccepted = ({ from = "127.0.0.1", httpVersion = "1.1", headers = {} }: Given): boolean =>
  isLoopbackRequest({
    socket: { remoteAddress: from ?? undefined },
    httpVersion,
    headers: { host: "127.0.0.1:4010", ...headers },
  } as unknown as IncomingMessage);

test("a request is made on this machine, or perhaps elsewhere", () => {
  expect(requests.here.filter((given) => !isAccepted(given))).toEqual([]);
  expect(requests.elsewhere.filter(isAccepted)).toEqual([]);
});
