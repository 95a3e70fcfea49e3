import { callCli, type CallOptions } from "./call-cli.js";
import { expectGolden } from "./golden.js";
import type { CliRun } from "./run-cli.js";

/** One command of a transcript, and what stands above it there: a sentence about the case. */
export interface Scene extends CallOptions {
  title: string;
  args: readonly string[];
}

/**
 * Runs the commands one after the other, and compares all that they printed with one golden file.
 *
 * @param edit what of a run stands there @default all
 */
export async function expectTranscript(
  name: string,
  scenes: readonly Scene[],
  masks: readonly [RegExp, string][] = [],
  edit: (run: CliRun) => string = ({ stdout, stderr }) => stdout + stderr,
): Promise<CliRun[]> {
  const runs: CliRun[] = [];
  let text = "";
  for (const { title, args, ...options } of scenes) {
    const run = await callCli(args, options);
    runs.push(run);
    text += `\n# ${title}\n$ signalbox ${args.join(" ")}\n${edit(run)}exit ${run.exitCode}\n`;
  }
  const whole = { exitCode: 0, stdout: text, stderr: "", lines: [] };
  await expectGolden(name, whole, masks);
  return runs;
}
