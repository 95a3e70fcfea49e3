import { describeSituation } from "../../../kit/inbox/situation.js";
import { ActionButton } from "../../parts/action-button.js";
import { usePage } from "../../parts/page-frame.js";
import { request } from "../../parts/request.js";
import { visible } from "../../../base/text/visible-text.js";
import type { Overview } from "../inbox-api.js";

/** Whether the receiver is behind, and why, in a sentence for each endpoint. */
export function SituationLine({ overview }: { overview: Overview }) {
  const { now } = usePage();
  const { endpoints, paused } = overview;
  const situations = endpoints.map(({ endpoint, facts }) => ({
    endpoint,
    facts,
    ...describeSituation({ ...facts, now }),
  }));

  return (
    <div class="situations" role="status">
      {situations.map(({ endpoint, facts, level, text }) => (
        <p key={endpoint} class={`situation ${level === "ok" ? "good" : "bad"}`}>
          {situations.length > 1 && <strong>{visible(endpoint)}: </strong>}
          {text}{" "}
          {facts.pause !== null && paused === "callback_failing" && (
            <ActionButton label="Try one event now" tone="plain" run={tryOne} />
          )}
        </p>
      ))}
    </div>
  );
}

async function tryOne(): Promise<string> {
  await request("POST", "api/retry", { body: { eventIds: [] } });
  return "One event is tried now.";
}
