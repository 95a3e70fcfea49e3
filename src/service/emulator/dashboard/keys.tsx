import { useState } from "preact/hooks";
import type { Scope } from "../../contract/access.js";
import { ActionButton } from "../../../page/parts/action-button.js";
import { ActionForm, type Values } from "../../../page/parts/action-form.js";
import { List } from "../../../page/parts/data-table.js";
import { View } from "../../../page/parts/page-frame.js";
import { Badge } from "../../../page/parts/badge.js";
import { Moment, Panel } from "../../../page/parts/panel.js";
import { visible } from "../../../base/text/visible-text.js";
import { type Answer, change, control, useAnswer, useDesk } from "./control.js";
import { ShownOnce } from "./shown-once.js";

const SCOPES: Readonly<Record<Scope, string>> = {
  "research:read": "read rankings, search demand and investigations",
  "research:execute": "start investigations",
  "webhooks:manage": "register webhooks",
  "mcp:tools": "call the tools of the remote MCP",
};

/** The keys of the chosen account, and the way to another one. */
export function Keys() {
  const { account, choose, setApiKey } = useDesk();
  const path = `/accounts/${account.account_id}/keys`;
  const keys = useAnswer<"listKeys">(path);
  const [made, setMade] = useState("");

  async function make(_: Values, data: FormData): Promise<string> {
    const { key } = await control<Answer<"createKey">>("POST", path, {
      scopes: data.getAll("scope"),
    });
    setMade(key);
    setApiKey(key);
    keys.reload();
    return "Key created.";
  }

  return (
    <View title="Keys">
      <Panel title={`API keys of ${visible(account.name)}`}>
        <List
          label="API keys"
          empty="This account has no key yet."
          from={keys}
          keyOf={({ key_id }) => key_id}
          columns={[
            { label: "Begins with", cell: ({ hint }) => <code>{visible(hint)}…</code> },
            { label: "Scopes", grows: true, cell: ({ scopes }) => scopes.join(", ") || "none" },
            { label: "Created", cell: ({ created_at }) => <Moment at={created_at} /> },
            {
              label: "State",
              cell: ({ revoked_at }) =>
                revoked_at === null ? (
                  <Badge tone="good">valid</Badge>
                ) : (
                  <Badge tone="idle">revoked</Badge>
                ),
            },
            {
              label: "Action",
              align: "end",
              cell: ({ key_id, hint, revoked_at }) =>
                revoked_at === null && (
                  <ActionButton
                    label="Revoke"
                    of={visible(hint)}
                    tone="danger"
                    confirm={{
                      title: `Revoke the key ${visible(hint)}…?`,
                      text: "Calls with this key get 401 from now on. This cannot be undone.",
                    }}
                    run={() =>
                      change(
                        keys,
                        `The key ${visible(hint)}… is revoked.`,
                        "DELETE",
                        `/keys/${key_id}`,
                      )
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
  async function make({ name, tier }: Values): Promise<string> {
    onMade(
      (await control<Answer<"createAccount">>("POST", "/accounts", { name, tier })).account_id,
    );
    return "The account is made. It has no key yet.";
  }
  return (
    <ActionForm
      fields={[
        { name: "name", label: "Name", placeholder: "An account", width: "grows" },
        { name: "tier", label: "Tier", choices: ["pro", "developer", "enterprise"] },
      ]}
      action="Make an account"
      run={make}
    />
  );
}
