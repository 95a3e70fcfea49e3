import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { median } from "../statistics.js";

const MAIN = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
const ROUNDS = 9;

/** From the start of `signalbox emulator` to its first answer, against an empty Node, in alternating rounds. */
export async function measureStart(): Promise<Record<string, string>> {
  const emulator: number[] = [];
  const node: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    node.push(await untilFirstOutput(["-e", "console.log(1)"]));
    emulator.push(await untilFirstOutput([MAIN, "emulator", "--port", "0", "--json"]));
  }
  return { "emulator ms": median(emulator).toFixed(0), "empty node ms": median(node).toFixed(0) };
}

async function untilFirstOutput(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const took = performance.now() - began;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  await ended;
  return took;
}
