import { isClientError } from "../../../service/client/client-error.js";
import type { Client } from "../../../service/client/client.js";
import type { NewRegistration } from "../../../service/contract/webhook-registration.js";
import { CliError, environmentError } from "../../console/exit.js";
import { echoed } from "../../console/printable.js";
import type { SecretWriter } from "./secret-writer.js";

/**
 * Registers, stores the secret, and closes the writer. Also stores the secret of an answer that
 * does not fit the service's document, because the service shows it once.
 *
 * @param file the secret file, for the error
 * @throws CliError when the secret was not stored as it should; ClientError when nothing was
 * registered
 */
export async function registerAndKeep(
  client: Pick<Client, "registerWebhook">,
  asked: Parameters<Client["registerWebhook"]>[0],
  writer: SecretWriter,
  file: string,
): Promise<NewRegistration> {
  try {
    const registration = await client.registerWebhook(asked);
    keep(registration.signing_secret, registration.id);
    return registration;
  } catch (error) {
    const made = isClientError(error) ? (error.answer as Partial<NewRegistration> | null) : null;
    if (typeof made?.signing_secret !== "string") throw error;
    const id = typeof made.id === "string" ? made.id : "a webhook";
    keep(made.signing_secret, id);
    throw environmentError(
      `${echoed(id)} is registered, and its secret is in ${file}, but the service's answer is not as its document says`,
    );
  } finally {
    writer.close();
  }

  function keep(secret: string, id: string): void {
    try {
      writer.add(secret);
    } catch (error) {
      const why = error instanceof CliError ? error.message : String(error);
      throw environmentError(`${echoed(id)} is registered, but ${why}`);
    }
  }
}
