import { expect, test } from "vitest";
import { addressKind, isLoopbackHost } from "../../../../src/base/addresses/address-kind.js";

test.each([
  ["8.8.8.8", "public"],
  ["172.32.0.1", "public"],
  ["192.169.0.1", "public"],
  ["2001:4860:4860::8888", "public"],
  ["2a00:1450::200e%eth0", "public"],
  ["::ffff:8.8.8.8", "public"],
  ["127.0.0.1", "loopback"],
  ["127.255.3.2", "loopback"],
  ["::1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
])("%s is %s", (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

test.each([
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "168.63.129.16",
  "169.254.169.254",
  "192.0.2.1",
  "192.168.1.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "2001:db8::1",
  "4000::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1%br-lan",
  "ff02::1",
  // Each of these carries an IPv4 address.
  "::10.0.0.1",
  "::ffff:10.0.0.1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::1",
  "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  "2002:808:808::1",
  "",
  "no address",
])("%j is neither public nor this machine", (address) => {
  expect(["public", "loopback"]).not.toContain(addressKind(address));
});

test.each([
  "localhost",
  "LocalHost",
  "localhost.",
  "127.9.9.9",
  "::1",
  "[::1]",
  "[::ffff:127.0.0.1]",
])("%s leads to this machine", (host) => expect(isLoopbackHost(host)).toBe(true));

test.each([
  "",
  "api.localhost",
  "localhost.example",
  "127.0.0.1.example",
  "0.0.0.0",
  "[::]",
  "10.0.0.1",
])("%j may lead elsewhere", (host) => expect(isLoopbackHost(host)).toBe(false));
