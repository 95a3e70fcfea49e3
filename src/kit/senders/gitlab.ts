import { z } from "zod";
import type { ReadableDelivery, ReadEvent, Sender } from "./engine/sender.js";
import { checkSenderOptions, knownSender, type SenderOptions } from "./known-sender.js";
import { standardSignature } from "./standard-webhooks.js";

/** The payload of a delivery, as far as many have it. */
export interface GitlabPayload {
  object_kind?: string;
  event_name?: string;
  object_attributes?: { action?: string; [property: string]: unknown };
  project?: { path_with_namespace: string; [property: string]: unknown };
  [property: string]: unknown;
}

/** The options of `gitlab`. */
export interface GitlabOptions<Event = GitlabPayload> extends SenderOptions<Event> {
  /**
   * The webhook has a secret token, which GitLab sends in `X-Gitlab-Token`, and no signing token.
   * That proves who sends, and not what: whoever reads a delivery can make others.
   *
   * @default false: it has a signing token, as GitLab has from 19.0 on, and each delivery a
   * signature by Standard Webhooks
   */
  token?: boolean;
}

const optionsShape = { token: z.boolean().default(false) };

/**
 * GitLab (https://docs.gitlab.com/user/project/integrations/webhooks/). The type is `object_kind`,
 * or `event_name` of members, groups and system hooks; the subtype the action, the subject the path
 * of the project. GitLab waits for 10 seconds, does not try again by itself, and disables a webhook
 * that fails too often.
 *
 * Not promised: an id before GitLab 17.4; there the hash of the body is it. An event of a project
 * and one of its group have different ids.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function gitlab<Event = GitlabPayload>(
  options: GitlabOptions<Event> = {},
): Sender<Record<string, Event>> {
  const { token, subject } = checkSenderOptions("gitlab", optionsShape, options);
  return knownSender({
    subject,
    name: "gitlab",
    headers: ["x-gitlab-event", "x-gitlab-instance", "x-gitlab-event-uuid", "idempotency-key"],
    bodyLimitBytes: 25 * 1024 * 1024,
    ackTimeoutMs: 8000,
    signature: token
      ? { header: "x-gitlab-token", token: true, id: "idempotency-key" }
      : standardSignature({ headerPrefix: "webhook", key: "base64" }),
    read,
  });

  function read({ json, headers }: ReadableDelivery): ReadEvent {
    return {
      // With a token nothing is signed, so that another header proves as much.
      id: headers["webhook-id"] ?? (token ? headers["idempotency-key"] : undefined) ?? null,
      // Of a custom template nothing is known.
      type: json.object_kind ?? json.event_name ?? "event",
      subtype: json.object_attributes?.action ?? json.action,
      subject:
        json.project?.path_with_namespace ??
        json.path_with_namespace ??
        json.full_path ??
        json.group_path,
    };
  }
}
