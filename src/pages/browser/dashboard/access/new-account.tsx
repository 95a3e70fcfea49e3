import type { JSX } from "preact";
import { ActionForm, type Values } from "../action-form.js";
import { control, type Answer } from "../control.js";

/** @param onMade gets the id of the new account */
export function NewAccount({ onMade }: { onMade: (accountId: number) => void }): JSX.Element {
  async function make({ name, tier }: Values): Promise<string> {
    const input = { ...(name !== "" && { name }), tier };
    const { account_id } = await control<Answer<"createAccount">>("POST", "/accounts", input);
    onMade(account_id);
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
