import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { isLoopbackRequest } from "../../../../src/base/addresses/loopback-request.js";

interface Given {
  from?: string | undefined;
  httpVersion?: string;
  headers?: Record<string, string>;
}

const isAccepted = ({ from = "127.0.0.1", httpVersion = "1.1", headers = {} }: Given): boolean =>
  isLoopbackRequest({
    socket: { remoteAddress: from === "none" ? undefined : from },
    httpVersion,
    headers: { host: "127.0.0.1:4010", ...headers },
  } as unknown as IncomingMessage);

test.each<Given>([
  { from: "::1" },
  { from: "::ffff:127.0.0.1" },
  { httpVersion: "2.0" },
  ...["localhost", "LOCALHOST:4020", "127.8.9.1", "[::1]:4020"].map((host) => ({
    headers: { host },
  })),
])("made on this machine: %o", (given) => expect(isAccepted(given)).toBe(true));

test.each<Given>([
  { from: "192.168.1.20" },
  { from: "fe80::1%eth0" },
  // A socket of the file system, where a proxy of this machine may be.
  { from: "none" },
  { httpVersion: "1.0" },
  ...[
    "",
    "rebound.example:4020",
    "localhost.rebound.example",
    "127.0.0.1.rebound.example",
    "192.168.1.10",
    "0.0.0.0",
    "rebound.example@localhost",
    "localhost:4020:rebound.example",
  ].map((host) => ({ headers: { host } })),
  ...[
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-real-ip",
    "cf-connecting-ip",
  ].map((name) => ({
    headers: { [name]: "127.0.0.1" },
  })),
])("perhaps made elsewhere: %o", (given) => expect(isAccepted(given)).toBe(false));
