import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Scope } from "../../../../api/access.js";
import { Badge } from "../../parts/badge.js";
import { Moment } from "../../parts/moment.js";
import { visible } from "../../parts/visible-text.js";
import { ActionButton } from "../action-button.js";
import { ActionForm } from "../action-form.js";
import { control, useAnswer, type Answer } from "../control.js";
import { useDesk } from "../desk.js";
import { List, Loaded, Panel, View } from "../panel.js";
import { ShownOnce } from "../shown-once.js";
import { NewAccount } from "./new-account.js";

const SCOPES: Readonly<Record<Scope, string>> = {
  "research:read": "read rankings, search demand and investigations",
  "research:execute": "start investigations",
  "webhooks:manage": "register webhooks",
  "mcp:tools": "call the tools of the remote MCP",
};

/** The keys of the chosen account, and the way to another one. */
export function Keys(): JSX.Element {
  const { account, choose, now, setApiKey } = useDesk();
  const path = `/accounts/${account.account_id}/keys`;
  const keys = useAnswer<"listKeys">(path);
  const [made, setMade] = useState("");

  async function make(scopes: readonly unknown[]): Promise<string> {
    const { key } = await control<Answer<"createKey">>("POST", path, { scopes });
    setMade(key);
    setApiKey(key);
    keys.reload();
    return "The key is made.";
  }

  async function revoke(id: string, hint: string): Promise<string> {
    await control("DELETE", `/keys/${id}`);
    keys.reload();
    return `The key ${visible(hint)}… is revoked.`;
  }

  return (
    <View title="Keys">
      <Panel title={`API keys of ${visible(account.name)}`}>
        <Loaded from={keys}>
          {({ items }) => (
            <List
              label="API keys"
              empty="This account has no key yet."
              rows={items}
              keyOf={({ key_id }) => key_id}
              columns={[
                { label: "Begins with", cell: ({ hint }) => <code>{visible(hint)}…</code> },
                { label: "Scopes", grows: true, cell: ({ scopes }) => scopes.join(", ") || "none" },
                { label: "Made", cell: ({ created_at }) => <Moment at={Date.parse(created_at)} now={now} /> },
                {
                  label: "State",
                  cell: ({ revoked_at }) =>
                    revoked_at === null ? <Badge tone="good">valid</Badge> : <Badge tone="idle">revoked</Badge>,
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
                        run={() => revoke(key_id, hint)}
                      />
                    ),
                },
              ]}
            />
          )}
        </Loaded>
        {made !== "" && (
          <ShownOnce
            label="The new API key"
            secret={made}
            text="Until you reload, this page remembers it, to fill in its own forms."
            onClose={() => setMade("")}
          />
        )}
        <ActionForm fields={[]} action="Make a key" run={(_, data) => make(data.getAll("scope"))}>
          <fieldset>
            <legend>Scopes of a new key</legend>
            {Object.entries(SCOPES).map(([scope, text]) => (
              <label key={scope} class="check">
                <input type="checkbox" name="scope" value={scope} defaultChecked />
                <span>
                  <code>{scope}</code> <span class="muted">{text}</span>
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
