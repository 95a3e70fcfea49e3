import type { Measured } from "../result.js";
import { formatNumber } from "./format.js";

/** When and on what, in one line. */
export function describeMeasured({ at, machine }: Measured): string {
  const { cpu, cores, memoryBytes, system, node, syncMs, isInMemory } = machine;
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  const disk = isInMemory
    ? "files in memory, where no sync costs anything"
    : `a 4 KB append and its sync take ${formatNumber(syncMs)} ms`;
  return `Measured ${at.slice(0, 10)}: ${cpu}, ${cores} cores, ${memory}, ${system}, Node ${node}; ${disk}.`;
}
