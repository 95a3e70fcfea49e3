import { useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  ActionButton,
  ActionForm,
  CodeBlock,
  List,
  Panel,
  State,
  type Values,
  View,
} from "../../../page/parts/index.js";
import type { Scope } from "../../contract/access.js";
import { change, control, useAnswer, useDesk } from "./control.js";
import { OperationForm } from "./operation-form.js";

const SCOPES: Readonly<Record<Scope, string>> = {
  "research:read": "read rankings, search demand and investigations",
  "research:execute": "start investigations",
  "webhooks:manage": "register webhooks",
  "mcp:tools": "call the tools of the remote MCP",
};

/** The keys of the chosen account, and the way to another one. */
export function Keys() {
  const { account, choose, setApiKey } = useDesk();
  const { account_id } = account;
  const keys = useAnswer("listKeys", { account_id });
  const [made, setMade] = useState("");

  async function make(_: Values, data: FormData): Promise<string> {
    const scopes = data.getAll("scope") as Scope[];
    const { key } = await control.createKey({ account_id, scopes });
    setMade(key);
    setApiKey(key);
    return "Key created.";
  }

  return (
    <View title="Keys" isDense>
      <Panel title={`API keys of ${account.name}`}>
        <List
          label="API keys"
          empty="This account has no key yet."
          from={keys}
          keyOf="key_id"
          columns={[
            { label: "Begins with", cell: ({ hint }) => <code>{hint}…</code> },
            { label: "Scopes", look: "grows", cell: "scopes" },
            { label: "Created", cell: "created_at" },
            {
              label: "State",
              cell: ({ revoked_at }) => (
                <State tone={revoked_at === null ? "good" : "idle"}>
                  {revoked_at === null ? "valid" : "revoked"}
                </State>
              ),
            },
            {
              label: "Action",
              look: "end",
              cell: ({ key_id, hint, revoked_at }) =>
                revoked_at === null && (
                  <ActionButton
                    label="Revoke"
                    of={hint}
                    tone="danger"
                    confirm={{
                      title: `Revoke the key ${hint}…?`,
                      text: "Calls with this key get 401 from now on. This cannot be undone.",
                    }}
                    run={() =>
                      change(`The key ${hint}… is revoked.`, control.revokeKey({ key_id }))
                    }
                  />
                ),
            },
          ]}
        />
        {made !== "" && (
          <ShownOnce
            label="The new API key"
            secret={made}
            text="Until you reload, this page remembers it, to fill in its own forms."
            onClose={() => setMade("")}
          />
        )}
        <ActionForm fields={[]} action="Make a key" run={make}>
          <fieldset>
            <legend>Scopes of a new key</legend>
            {Object.entries(SCOPES).map(([scope, text]) => (
              <label key={scope} class="check">
                <input type="checkbox" name="scope" value={scope} defaultChecked />
                <span class="muted">
                  <code>{scope}</code> {text}
                </span>
              </label>
            ))}
          </fieldset>
        </ActionForm>
      </Panel>
      <Panel title="Another account">
        <NewAccount onMade={choose} />
      </Panel>
    </View>
  );
}

/** @param props.onMade gets the id of the new account */
export function NewAccount({ onMade }: { onMade: (accountId: number) => void }) {
  return (
    <OperationForm
      operation="createAccount"
      fields={{ name: { isRequired: false, width: "grows" }, tier: { value: "pro" } }}
      action="Make an account"
      said={({ account_id }) => {
        onMade(account_id);
        return "The account is made. It has no key yet.";
      }}
    />
  );
}

interface ShownOnceProps {
  label: string;
  secret: string;
  /** What the secret is for, and what the page keeps of it. */
  text: string;
  onClose: () => void;
}

/** A new secret, which the emulator does not show again. */
export function ShownOnce({ label, secret, text, onClose }: ShownOnceProps) {
  const region = useRef<HTMLElement>(null);
  useLayoutEffect(() => region.current?.focus(), []);
  return (
    <section ref={region} class="panel once" aria-label={`${label}, shown once`} tabIndex={-1}>
      <CodeBlock label={label} text={secret} />
      <p>
        <strong>Copy it now. It is not shown again.</strong> {text}
      </p>
      <div class="toolbar">
        <button type="button" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </section>
  );
}
