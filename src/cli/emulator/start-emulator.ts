import type { Emulator } from "../../emulator/instance/create-emulator.js";
import type { EmulatorOptions } from "../../emulator/instance/options.js";
import { toUsageError } from "../options/exit.js";

/** @throws CliError when one of these flags is wrong; other errors are not changed */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  try {
    const { createEmulator } = await import("../../emulator/instance/create-emulator.js");
    const emulator = createEmulator(options);
    await emulator.start();
    return emulator;
  } catch (error) {
    throw toUsageError(error, { seed: "--seed", controlToken: "--control-token" });
  }
}
