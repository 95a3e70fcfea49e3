import type { Client } from "../../../service/client/client.js";
import type {
  Emulator,
  EmulatorControl,
} from "../../../service/emulator/instance/create-emulator.js";
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

/** @returns the products that the account follows now, the one with the most traffic first */
export async function followMostVisited(
  control: Pick<EmulatorControl, "follow">,
  client: Pick<Client, "rankings">,
  { account_id, limit }: { account_id: number; limit: number },
) {
  const { items, eligible_population: eligible } = await client.rankings({
    sort: "traffic",
    limit,
  });
  const slugs = items.map(({ slug }) => slug);
  await control.follow({ account_id, slugs });
  return { slugs, eligible };
}
