import type { Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/**
 * What Slack posts: an event of the Events API, an interaction, or the fields of a slash command.
 */
export type SlackEvent = Record<string, unknown>;

function isCertificateCheck(form: Readonly<Record<string, string | undefined>>): boolean {
  return (
    form["ssl_check"] === "1" &&
    Object.keys(form).every((name) => name === "ssl_check" || name === "token")
  );
}

/**
 * Slack (https://docs.slack.dev/authentication/verifying-requests-from-slack). The type is that of
 * the inner `event` or of the interaction; a slash command has the type `command` and its name as
 * subtype. Slack waits for 3 seconds. The answer is empty: Slack would show another one, or take it
 * for an error.
 *
 * Not promised: an answer to a command or a view with content; send it to the `response_url`.
 */
export function slack<Event = SlackEvent>(
  options: SenderOptions<Event> = {},
): Sender<Record<string, Event>> {
  return knownSender({
    options,
    name: "slack",
    headers: ["x-slack-retry-num", "x-slack-retry-reason"],
    ackTimeoutMs: 2500,
    signature: {
      header: "x-slack-signature",
      prefix: "v0=",
      time: { header: "x-slack-request-timestamp" },
      message: ["v0:", "time", ":", "body"],
    },
    // Url verification is signed too, and its answer is what it asked.
    handshake: {
      // Slack checks the certificate of a command's address so, without a signature. Nothing of it
      // is used.
      unsigned: ({ form }) => (isCertificateCheck(form) ? { text: "" } : null),
      post: ({ json, form }) => {
        if (isCertificateCheck(form)) return { text: "" };
        if (json.type !== "url_verification") return null;
        return typeof json.challenge === "string" ? { text: json.challenge } : "refused";
      },
    },
    acknowledgement: { text: "" },
    read: ({ json }) => ({
      id: json.event_id ?? null,
      type: json.command === undefined ? (json.event?.type ?? json.type) : "command",
      subtype: json.command ?? json.event?.subtype,
      subject: json.team_id ?? json.team?.id,
    }),
  });
}
