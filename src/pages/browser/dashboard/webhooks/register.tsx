import type { JSX } from "preact";
import type { NewRegistration } from "../../../../api/webhook-registration.js";
import { SIGNAL_TYPES } from "../../../../events/signal-types.js";
import { go, href } from "../../parts/use-route.js";
import { ActionForm, LOCALE, type Values } from "../action-form.js";
import { rest } from "../control.js";
import { useDesk } from "../desk.js";
import { View } from "../panel.js";

/** The secrets of registrations that are made but not yet shown. */
const newSecrets = new Map<string, string>();

/** @returns empty when there is none, or it was taken before */
export function takeNewSecret(registrationId: string): string {
  const secret = newSecrets.get(registrationId) ?? "";
  newSecrets.delete(registrationId);
  return secret;
}

/** Registers an endpoint as a client does: with a call of the REST API. Then it shows the webhook, with its secret. */
export function Register(): JSX.Element {
  const { apiKey, setApiKey } = useDesk();

  async function register({ url, locale, key = "" }: Values, data: FormData): Promise<string> {
    const body = { url, locale, signal_types: data.getAll("type") };
    const { id, signing_secret } = await rest<NewRegistration>("POST", "/alerts/webhooks", { token: key, body });
    setApiKey(key);
    newSecrets.set(id, signing_secret);
    go(["webhooks", id]);
    return "The webhook is registered. The service verifies its endpoint.";
  }

  return (
    <View title="Register a webhook">
      <div class="panel">
        <ActionForm
          fields={[
            { name: "url", label: "Endpoint", type: "url", placeholder: "https://…", isRequired: true, width: "grows" },
            { name: "key", label: "API key", type: "password", value: apiKey, isRequired: true, width: "grows" },
            LOCALE,
          ]}
          action="Register"
          run={register}
        >
          <p class="hint">
            The key needs the scope <code>webhooks:manage</code>. <a href={href(["keys"])}>Make one</a>, or paste one
            that you have. The webhook belongs to the account of the key.
          </p>
          <fieldset class="groups">
            <legend>Signal types, at most 30</legend>
            {SIGNAL_TYPES.map((type) => (
              <label key={type} class="check">
                <input type="checkbox" name="type" value={type} />
                <code>{type}</code>
              </label>
            ))}
          </fieldset>
        </ActionForm>
      </div>
    </View>
  );
}
