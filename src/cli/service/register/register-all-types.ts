import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import type { Client } from "../../../service/client/client.js";
import { openSecretWriter } from "./secret-writer.js";
import { readSignalTypes } from "../signal-type-list.js";

/**
 * Does what `signalbox register --all-types` does, at an emulator of this process: its answers
 * cannot be lost.
 */
export async function registerAllTypes(
  client: Pick<Client, "registerWebhook">,
  { url, secretFile }: { url: string; secretFile: string },
): Promise<NewRegistration[]> {
  const registrations: NewRegistration[] = [];
  for (const types of readSignalTypes({ allTypes: true })) {
    const writer = openSecretWriter(secretFile);
    try {
      const registration = await client.registerWebhook({ url, signal_types: types });
      writer.add(registration.signing_secret);
      registrations.push(registration);
    } finally {
      writer.close();
    }
  }
  return registrations;
}
