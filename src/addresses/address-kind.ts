import { BlockList, isIPv6 } from "node:net";

/** Who can reach an address. `public` is what anybody on the internet can. */
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
      ["168.63.129.16", 32],
      ["fd00:ec2::254", 128],
      ["fd20:ce::254", 128],
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
      ["fec0::", 10],
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
      ["192.88.99.0", 24],
      ["198.18.0.0", 15],
      ["198.51.100.0", 24],
      ["203.0.113.0", 24],
      ["224.0.0.0", 3],
      // Teredo too, which carries an IPv4 address that it hides.
      ["2001::", 23],
      ["2001:db8::", 32],
      ["3fff::", 20],
    ],
  ],
  [
    "public",
    [
      ["::ffff:0:0", 96],
      ["64:ff9b::", 96],
    ],
  ],
  // All that is not global unicast, 2000::/3.
  [
    "reserved",
    [
      ["::", 3],
      ["4000::", 2],
      ["8000::", 1],
    ],
  ],
];

const LISTS = RANGES.map(([kind, ranges]) => {
  const list = new BlockList();
  for (const [network, prefix] of ranges.flatMap(withEmbedded)) list.addSubnet(network, prefix, familyOf(network));
  return [kind, list] as const;
});

/**
 * Who can reach an address. One of IPv6 that stands for one of IPv4 is what that is: `::ffff:10.0.0.1`, `::10.0.0.1`,
 * `64:ff9b::10.0.0.1` (NAT64), `2002:a00:1::` (6to4).
 *
 * @param address as the system writes it; a zone (`%eth0`) is not looked at
 */
export function addressKind(address: string): AddressKind {
  // A BlockList reads `::ffff:` by itself, and knows no zone.
  const plain = address.replace(/%.*$/, "");
  const kind = LISTS.find(([, list]) => list.check(plain, familyOf(plain)))?.[0];
  return kind ?? "public";
}

/** A range of IPv4 also as IPv6 carries it. */
function withEmbedded([network, prefix]: Range): Range[] {
  if (isIPv6(network)) return [[network, prefix]];
  const [a = 0, b = 0, c = 0, d = 0] = network.split(".").map(Number);
  const high = (a * 256 + b).toString(16);
  const low = (c * 256 + d).toString(16);
  return [
    [network, prefix],
    [`::${high}:${low}`, 96 + prefix],
    [`64:ff9b::${high}:${low}`, 96 + prefix],
    [`2002:${high}:${low}::`, 16 + prefix],
  ];
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
