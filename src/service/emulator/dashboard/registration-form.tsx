import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { type KnownSignalType, SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import {
  ActionForm,
  type Field,
  go,
  href,
  Loaded,
  request,
  useData,
  type Values,
  View,
} from "../../../page/parts/index.js";
import { LIMITS } from "../../contract/limits.js";
import type { NewRegistration } from "../../contract/webhook-registration.js";
import { control, type Registration, typed, useDesk } from "./control.js";

const LANGUAGES = [
  ["en", "English"],
  ["zh-CN", "Chinese"],
] as const;

const KEY_FIELD: Field = {
  name: "key",
  label: "API key",
  type: "password",
  isRequired: true,
  width: "grows",
};

/**
 * Registers an endpoint as a client does: with a call of the REST API. Then it shows the webhook,
 * with its secret.
 */
export function Register() {
  const { apiKey, setApiKey, setNewSecret } = useDesk();

  async function register(
    { url, locale, key = apiKey }: Values,
    signal_types: readonly string[],
  ): Promise<string> {
    const body = { url, locale, signal_types };
    const headers = { Authorization: `Bearer ${key}` };
    const made = await request<NewRegistration>("POST", "../../v1/alerts/webhooks", {
      body,
      headers,
    });
    setApiKey(key);
    setNewSecret({ registrationId: made.id, secret: made.signing_secret });
    go(["webhooks", made.id]);
    return "The webhook is registered. The service verifies its endpoint.";
  }

  return (
    <View title="Register a webhook">
      <RegistrationForm
        fields={apiKey === "" ? [KEY_FIELD] : []}
        hint={
          apiKey === "" ? (
            <>
              The key needs the scope <code>webhooks:manage</code>.{" "}
              <a href={href(["keys"])}>Make one</a>, or paste one that you have. The webhook belongs
              to the account of the key.
            </>
          ) : (
            "The API key that this page has is used."
          )
        }
        action="Register"
        run={register}
      />
    </View>
  );
}

/** Changes a webhook. */
export function Edit({ id }: { id: string }) {
  // Loaded once: what the reader has changed stays.
  const registration = useData(id, () => control.readRegistration({ registration_id: id }), 0);

  async function update({ url, locale }: Values, signal_types: readonly string[]): Promise<string> {
    const { status } = await control.updateRegistration(
      typed({ registration_id: id, url, locale, signal_types }),
    );
    go(["webhooks", id]);
    return status === "pending" ? "Changed. The service verifies the new endpoint." : "Changed.";
  }

  return (
    <View title="Edit the webhook">
      <Loaded from={registration}>
        {(from) => (
          <RegistrationForm
            from={from}
            hint="Another endpoint is verified before it gets signals. The secret stays."
            action="Save"
            run={update}
          />
        )}
      </Loaded>
    </View>
  );
}

interface RegistrationFormProps {
  /** What it has at first. */
  from?: Registration;
  fields?: readonly Field[];
  hint: ComponentChildren;
  action: string;
  run: (values: Values, signalTypes: readonly string[]) => Promise<string>;
}

const NO_FIELDS: readonly Field[] = [];

function RegistrationForm({ from, fields = NO_FIELDS, hint, action, run }: RegistrationFormProps) {
  const language = LANGUAGES.find(([locale]) => locale === from?.locale) ?? LANGUAGES[0];
  return (
    <div class="panel">
      <ActionForm
        fields={[
          {
            name: "url",
            label: "Endpoint",
            type: "url",
            value: from?.url ?? "",
            placeholder: "https://…",
            isRequired: true,
            width: "grows",
          },
          ...fields,
          { name: "locale", label: "Language", choices: LANGUAGES, value: language[0] },
        ]}
        action={action}
        run={(values, data) => run(values, data.getAll("type") as string[])}
      >
        <p class="hint">{hint}</p>
        <TypeChoice chosen={from?.signal_types ?? []} />
      </ActionForm>
    </div>
  );
}

/** The first type of each group. */
const GROUPS: readonly (readonly [string, KnownSignalType])[] = [
  ["Traffic", "traffic_breakout"],
  ["Visits from AI assistants", "ai_referral_breakout"],
  ["Prices", "price_increased"],
  ["Marketing", "backlink_acquisition_spike"],
  ["Product", "new_feature"],
  ["Website and search", "website_sitemap_expansion"],
];

function TypeChoice({ chosen }: { chosen: readonly string[] }) {
  const groups = useRef<HTMLDivElement>(null);
  const [count, setCount] = useState(chosen.length);
  const boxes = (): HTMLInputElement[] => [...(groups.current?.querySelectorAll("input") ?? [])];
  const countChosen = (): void => setCount(boxes().filter(({ checked }) => checked).length);
  function check(types: readonly string[], isChecked: boolean): void {
    for (const box of boxes()) if (types.includes(box.value)) box.checked = isChecked;
    countChosen();
  }
  const most = LIMITS.typesPerRegistration;
  return (
    <>
      <div class="toolbar">
        <button type="button" onClick={() => check(SIGNAL_TYPES.slice(0, most), true)}>
          The first {most}
        </button>
        <button type="button" onClick={() => check(SIGNAL_TYPES, false)}>
          None
        </button>
        <span class={count > most ? "problem" : "muted"} role="status">
          {count} of at most {most} signal types chosen
        </span>
      </div>
      <div ref={groups} class="groups" onChange={countChosen}>
        {GROUPS.map(([name, first], index) => {
          const next = GROUPS[index + 1]?.[1];
          const types = SIGNAL_TYPES.slice(
            SIGNAL_TYPES.indexOf(first),
            next && SIGNAL_TYPES.indexOf(next),
          );
          return (
            <fieldset key={name}>
              <legend>
                {name}{" "}
                <button
                  type="button"
                  class="plain"
                  aria-label={`All of ${name}`}
                  onClick={() => check(types, true)}
                >
                  all
                </button>
              </legend>
              {types.map((type) => (
                <label key={type} class="check">
                  <input
                    type="checkbox"
                    name="type"
                    value={type}
                    defaultChecked={chosen.includes(type)}
                  />
                  <code>{type}</code>
                </label>
              ))}
            </fieldset>
          );
        })}
      </div>
    </>
  );
}
