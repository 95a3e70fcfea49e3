import { BlockList, isIPv6 } from "node:net";

export type AddressKind = "public" | "this machine" | "metadata" | "private" | "link-local" | "reserved";

type Range = readonly [network: string, prefix: number];

// The first that holds an address names it.
const RANGES: readonly (readonly [kind: AddressKind, ranges: readonly Range[]])[] = [
  [
    "this machine",
    [
      ["127.0.0.0", 8],
      ["::1", 128],
      ["0.0.0.0", 32],
      ["::", 128],
    ],
  ],
  [
    "metadata",
    [
      ["169.254.169.254", 32],
      ["169.254.170.2", 32],
      ["100.100.100.200", 32],
      ["fd00:ec2::254", 128],
    ],
  ],
  [
    "private",
    [
      ["10.0.0.0", 8],
      ["172.16.0.0", 12],
      ["192.168.0.0", 16],
      ["100.64.0.0", 10],
      ["fc00::", 7],
    ],
  ],
  [
    "link-local",
    [
      ["169.254.0.0", 16],
      ["fe80::", 10],
    ],
  ],
  [
    "reserved",
    [
      ["0.0.0.0", 8],
      ["192.0.0.0", 24],
      ["192.0.2.0", 24],
      ["198.18.0.0", 15],
      ["198.51.100.0", 24],
      ["203.0.113.0", 24],
      ["224.0.0.0", 3],
      ["2001:db8::", 32],
      ["ff00::", 8],
    ],
  ],
];

const LISTS = RANGES.map(([kind, ranges]) => {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, familyOf(network));
  return [kind, list] as const;
});

/** Who can reach an address. IPv4 written as IPv6 (`::ffff:10.0.0.1`) is what it stands for. */
export function addressKind(address: string): AddressKind {
  // A BlockList reads `::ffff:` by itself, and knows no zone.
  const plain = address.replace(/%.*$/, "");
  return LISTS.find(([, list]) => list.check(plain, familyOf(plain)))?.[0] ?? "public";
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
