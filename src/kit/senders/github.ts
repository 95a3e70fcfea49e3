import { repeatedBodyOptions } from "./engine/check-definition.js";
import { matching } from "./engine/define-sender.js";
import type { Sender } from "./engine/sender.js";
import { checkSenderOptions, knownSender, type SenderOptions } from "./known-sender.js";

/** The payload of a delivery, as far as many have it. */
export interface GithubPayload {
  action?: string;
  repository?: { full_name: string };
  sender?: { login: string };
  [property: string]: unknown;
}

/** The options of `github`. */
export interface GithubOptions<Event = GithubPayload> extends SenderOptions<Event> {
  /**
   * What becomes of the type and the bytes of a stored event under a new id. `drop`: it is a
   * duplicate, for those whose events never have equal bytes; then a captured delivery under a new
   * id is one too.
   *
   * @default "keep"
   */
  repeatedBody?: "keep" | "drop";
}

/**
 * Those of GitHub's documents, such as `projects_v2_item`: another one would be a made-up type,
 * which nobody has signed.
 */
const TYPE = /^[a-z0-9_]{1,64}$/;
const ID = /^[\w-]{1,100}$/;

/**
 * GitHub (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries). The
 * type is `X-GitHub-Event`, the subtype the `action` of the payload: `"issues.opened"` in
 * `onEvent`. GitHub never tries again by itself: see docs/backfill.md.
 *
 * Not promised: GitHub signs no time, and neither the id nor the type. A captured delivery can come
 * again under new ids and types, any number of times: each is a new event, with
 * `handoff.possiblyRepeated` if its bytes came lately.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 * @example createReceiver({ sender: github<EventPayloadMap>(), … }) // of @octokit/webhooks-types
 */
export function github<Events extends object = Record<string, GithubPayload>>(
  options: GithubOptions<Events[keyof Events]> = {},
): Sender<Events> {
  const { repeatedBody, subject } = checkSenderOptions("github", repeatedBodyOptions, options);
  return knownSender({
    subject,
    name: "github",
    headers: [
      "x-github-delivery",
      "x-github-event",
      "x-github-hook-id",
      "x-github-hook-installation-target-id",
      "x-github-hook-installation-target-type",
    ],
    unsignedId: true,
    unsignedFacts: ["type"],
    repeatedBody,
    bodyLimitBytes: 25 * 1024 * 1024,
    // GitHub waits for 10 seconds.
    ackTimeoutMs: 8000,
    signature: { header: "x-hub-signature-256", prefix: "sha256=", id: "x-github-delivery" },
    read: ({ json, headers }) => ({
      id: matching(ID, headers["x-github-delivery"]),
      type: matching(TYPE, headers["x-github-event"]),
      subtype: json.action,
      subject:
        json.repository?.full_name ?? json.organization?.login ?? json.installation?.account?.login,
    }),
  });
}
