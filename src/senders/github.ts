import { defineSender } from "./define-sender.js";
import type { Sender } from "./sender.js";

/** The payload of a delivery, as far as many have it. */
export interface GithubPayload {
  action?: string;
  repository?: { full_name: string };
  sender?: { login: string };
  [property: string]: unknown;
}

/**
 * GitHub (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries). The type is `X-GitHub-Event`, the subtype the `action` of the
 * payload: `"issues.opened"` in `onEvent`. GitHub never tries again by itself: see docs/backfill.md.
 *
 * Not promised: GitHub signs no time, and neither the id nor the type. A captured delivery is a duplicate by its body for as long as its event is
 * remembered, but it can come under another type. Two events with the same bytes are one: a `workflow_dispatch` twice with the same inputs.
 *
 * @example createReceiver({ sender: github<EventPayloadMap>(), … }) // of @octokit/webhooks-types
 */
export function github<Events extends object = Record<string, GithubPayload>>(): Sender<Events> {
  return defineSender({
    name: "github",
    headers: ["x-github-delivery", "x-github-event", "x-github-hook-id"],
    unsignedId: true,
    bodyLimitBytes: 25 * 1024 * 1024,
    // GitHub waits for 10 seconds.
    ackTimeoutMs: 8000,
    signature: { header: "x-hub-signature-256", prefix: "sha256=", id: "x-github-delivery" },
    read: ({ json, headers }) => ({
      id: headers["x-github-delivery"],
      type: headers["x-github-event"],
      subtype: json.action,
      subject: json.repository?.full_name ?? json.organization?.login,
    }),
    sample: (now) => ({
      headers: { "x-github-event": "issues" },
      body: {
        action: "opened",
        issue: { number: 1, title: "A sample", created_at: new Date(now).toISOString() },
        repository: { full_name: "octocat/hello-world" },
        sender: { login: "octocat" },
      },
    }),
  }) as Sender<Events>;
}
