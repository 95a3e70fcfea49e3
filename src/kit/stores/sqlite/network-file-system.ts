import { statfsSync } from "node:fs";
import { SignalboxError } from "../../../base/errors.js";

// Magic numbers of statfs(2). File locks and the WAL's shared memory do not work reliably on
// these file systems, so an inbox on one is refused.
const NETWORK_FILE_SYSTEMS = new Map<number, string>([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
]);

/** @throws SignalboxError `store_unsupported` */
export function refuseNetworkFileSystem(folder: string, type = typeOf(folder)): void {
  const name = type === undefined ? undefined : NETWORK_FILE_SYSTEMS.get(type);
  if (name === undefined) return;
  throw new SignalboxError(
    "store_unsupported",
    `${folder} is on a network file system (${name}), where SQLite's locks cannot be trusted.`,
    "Put the inbox on a local disk.",
  );
}

/** @returns undefined on other systems than Linux, whose numbers differ */
function typeOf(folder: string): number | undefined {
  return process.platform === "linux" ? statfsSync(folder).type >>> 0 : undefined;
}
