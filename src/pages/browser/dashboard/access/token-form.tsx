import type { JSX } from "preact";
import { ActionForm } from "../action-form.js";
import { View } from "../panel.js";
import { giveControlToken } from "./control-token.js";

/** Asks for the token of an emulator that was started with one. */
export function TokenForm({ wasWrong }: { wasWrong: boolean }): JSX.Element {
  return (
    <View title="Control token">
      <p>
        This emulator was started with a control token (<code>--control-token</code> or{" "}
        <code>SIGNALS_CONTROL_TOKEN</code>). The page keeps it until you close the tab.
      </p>
      {wasWrong && (
        <p class="problem" role="alert">
          The emulator did not accept this token.
        </p>
      )}
      <ActionForm
        fields={[{ name: "token", label: "Control token", type: "password", isRequired: true }]}
        action="Continue"
        run={async ({ token = "" }) => {
          giveControlToken(token);
          return "The page uses the token from now on.";
        }}
      />
    </View>
  );
}
