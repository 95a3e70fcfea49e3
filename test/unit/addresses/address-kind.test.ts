import { expect, test } from "vitest";
import { addressKind } from "../../../src/addresses/address-kind.js";

test.each([
  ["8.8.8.8", "public"],
  ["172.32.0.1", "public"],
  ["192.169.0.1", "public"],
  ["2001:4860:4860::8888", "public"],
  ["2606:4700:4700::1111", "public"],
  ["2a00:1450::200e%eth0", "public"],
  ["127.0.0.1", "this machine"],
  ["127.255.3.2", "this machine"],
  ["0.0.0.0", "this machine"],
  ["::1", "this machine"],
  ["::", "this machine"],
  ["10.1.2.3", "private"],
  ["172.31.255.255", "private"],
  ["100.64.0.1", "private"],
  ["fd12:3456::1", "private"],
  ["fec0::1", "private"],
  ["169.254.1.1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["169.254.169.254", "metadata"],
  ["168.63.129.16", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["0.1.2.3", "reserved"],
  ["192.0.2.1", "reserved"],
  ["224.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"],
  ["2001:db8::1", "reserved"],
  ["100::1", "reserved"],
  ["ff02::1", "reserved"],
  ["5f00::1", "reserved"],
  ["64:ff9b:1::1", "reserved"],
])("%s is %s", (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

test.each([
  ["::ffff:8.8.8.8", "public"],
  ["::ffff:127.0.0.1", "this machine"],
  ["::ffff:7f00:1", "this machine"],
  ["::ffff:a9fe:a9fe", "metadata"],
  ["::10.0.0.1", "private"],
  ["::7f00:1", "this machine"],
  ["64:ff9b::8.8.8.8", "public"],
  ["64:ff9b::a00:1", "private"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["64:ff9b::7f00:1", "this machine"],
  ["2002:808:808::1", "public"],
  ["2002:a00:1::1", "private"],
  ["2002:7f00:1::", "this machine"],
  ["2002:c0a8:101::", "private"],
  ["2002:e000:1::", "reserved"],
])("%s is what the address of IPv4 in it is: %s", (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});
