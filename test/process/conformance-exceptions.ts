/** The revisions of the protocol: the last with a handshake, and the first without. */
export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

/** Names with blanks between them. */
const names = ({ raw }: TemplateStringsArray): string[] => raw.join("").trim().split(/\s+/);

/** Why a part of the conformance harness does not apply to this server. */
export interface Exceptions {
  reason: string;
  /** A scenario, or `scenario:check` where the scenario's other checks have to succeed. */
  of: readonly string[];
  /** @default all that have the scenario */
  revision?: (typeof REVISIONS)[number];
}

/** All that the harness does not see succeed. */
export const EXCEPTIONS: readonly Exceptions[] = [
  {
    reason:
      "The server has tools alone. It declares no prompts, resources, completions or logging, which are optional.",
    of: names`
      completion-complete logging-set-level tools-call-with-logging prompts-list prompts-get-simple
      prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image
      input-required-result-non-tool-request resources-list resources-read-text resources-read-binary
      resources-templates-read resources-subscribe resources-unsubscribe sep-2164-resource-not-found
      caching:sep-2549-prompts-list-caching-hints caching:sep-2549-resources-list-caching-hints
      caching:sep-2549-resources-templates-list-caching-hints caching:sep-2549-resources-read-caching-hints
    `,
  },
  {
    reason:
      "The scenario needs a tool that returns an image, audio or a resource. The four tools return text.",
    of: names`tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content`,
  },
  {
    reason: "The scenario looks at one tool only, whose input schema it prescribes.",
    of: names`json-schema-2020-12`,
  },
  {
    reason:
      "No tool asks the client for anything while it runs: no sampling, no elicitation, no roots.",
    of: names`
      tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults elicitation-sep1330-enums
      input-required-result-basic-elicitation input-required-result-basic-sampling
      input-required-result-basic-list-roots input-required-result-request-state
      input-required-result-multiple-input-requests input-required-result-multi-round
      input-required-result-missing-input-response input-required-result-result-type
      input-required-result-tampered-state input-required-result-capability-check
      input-required-result-ignore-extra-params server-stateless:sep-2575-server-rejects-undeclared-capability
      server-stateless:sep-2575-missing-capability-http-400
      server-stateless:sep-2575-http-server-no-independent-requests-on-stream
    `,
  },
  {
    reason:
      "The server sends answers alone: no progress, no log messages, and no changes of its lists, which never change.",
    of: names`
      tools-call-with-progress server-stateless:sep-2575-server-no-log-without-loglevel
      server-stateless:sep-2575-server-sends-subscription-ack server-stateless:sep-2575-server-tags-subscription-id
      server-stateless:sep-2575-server-honors-notification-filter
      server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription
      server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription
    `,
  },
  {
    reason:
      "The service's document calls the server stateless: it has no sessions, and answers with JSON, not with streams.",
    of: names`server-session-lifecycle server-sse-polling server-sse-multiple-streams`,
    revision: "2025-11-25",
  },
  {
    reason:
      "No parameter of a tool is marked with x-mcp-header, to be sent as a header too. The mark is optional.",
    of: names`http-custom-header-server-validation`,
  },
  {
    reason: "Tasks are an extension of the protocol, which the server does not declare.",
    of: names`
      tasks-lifecycle tasks-capability-negotiation tasks-wire-fields tasks-request-state-removal tasks-mrtr-input
      tasks-request-headers tasks-dispatch-and-envelope tasks-status-notifications tasks-required-task-error
      tasks-mrtr-composition
    `,
  },
  {
    reason:
      "Skills are an extension that belongs to neither revision. These scenarios are not run.",
    of: names`sep-2640-skills-directory sep-2640-skills-enumeration sep-2640-skills-manifest`,
  },
];
