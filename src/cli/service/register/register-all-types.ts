import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import type { Client } from "../../../service/client/client.js";
import { readSignalTypes } from "../signal-type-list.js";
import { registerAndKeep } from "./register-and-keep.js";
import { openSecretWriter } from "./secret-writer.js";

/** Does what `signalbox register --all-types` does, at an emulator of this process. */
export async function registerAllTypes(
  client: Pick<Client, "registerWebhook">,
  { url, secretFile }: { url: string; secretFile: string },
): Promise<NewRegistration[]> {
  const registrations: NewRegistration[] = [];
  for (const types of readSignalTypes({ allTypes: true })) {
    const asked = { url, signal_types: types };
    const writer = openSecretWriter(secretFile);
    registrations.push(await registerAndKeep(client, asked, writer, secretFile));
  }
  return registrations;
}
