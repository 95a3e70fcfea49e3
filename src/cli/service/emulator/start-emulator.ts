import type { Emulator } from "../../../service/emulator/instance/create-emulator.js";
import type { EmulatorOptions } from "../../../service/emulator/instance/options.js";
import { toUsageError } from "../../console/exit.js";

/** @throws CliError when one of these flags is wrong; other errors are not changed */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  try {
    const { createEmulator } =
      await import("../../../service/emulator/instance/create-emulator.js");
    const emulator = createEmulator(options);
    await emulator.start();
    return emulator;
  } catch (error) {
    throw toUsageError(error, { seed: "--seed", controlToken: "--control-token" });
  }
}
