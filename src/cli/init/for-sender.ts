import { builtInSender } from "../../kit/senders/built-in.js";
import type { AnySender } from "../../kit/senders/engine/sender.js";

/** Where each sender says how to add a webhook. */
const PAGES: Readonly<Record<string, string>> = {
  "standard-webhooks": "https://www.standardwebhooks.com",
  svix: "https://docs.svix.com/receiving/introduction",
  stripe: "https://docs.stripe.com/webhooks",
  github: "https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks",
  gitlab: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  shopify: "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
  slack: "https://docs.slack.dev/apis/events-api/",
  paddle: "https://developer.paddle.com/webhooks/about/notification-destinations",
  "lemon-squeezy": "https://docs.lemonsqueezy.com/help/webhooks",
  linear: "https://linear.app/developers/webhooks",
  twilio: "https://www.twilio.com/docs/usage/webhooks/webhooks-overview",
  zoom: "https://developers.zoom.us/docs/api/webhooks/",
  meta: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
  twitch: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
};

/** A variable of the written receiver: its name, its value on this machine, and what it must be. */
type Variable = readonly [name: string, local: string, is: string];

/** The option that a sender has to be given, and the variable with its value. */
const OPTIONS: Readonly<Record<string, readonly [option: string, variable: Variable]>> = {
  twilio: [
    "publicUrl",
    ["PUBLIC_URL", "http://localhost:3000/webhooks/twilio", "the address that it posts to"],
  ],
  meta: ["verifyToken", ["META_VERIFY_TOKEN", "local-token", "the token that you chose for it"]],
};

/** Where the type of a sender's events is not named after it. */
const EVENT_TYPES: Readonly<Record<string, string>> = {
  github: "GithubPayload",
  gitlab: "GitlabPayload",
  shopify: "Record<string, unknown>",
  svix: "StandardWebhooksEvent",
};

/** The time of the event in `templates/sender/test`, of which its ids are made. */
const SAMPLE_TIME = Date.UTC(2026, 0, 1);

const tableRow = (name: string, _local: string, is: string): string =>
  `| ${`\`${name}\``.padEnd(24)} | ${" ".repeat(16)} | ${is.padEnd(61)} |`;

/**
 * Makes the function that translates a text of the templates for this sender. `templates/express`
 * is written for signals, its parts for a sender and `templates/sender` for Stripe.
 */
export function translatorFor(sender: string): (text: string) => string {
  const factory = sender.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
  const constant = sender
    .replace(/-webhooks$/, "")
    .replaceAll("-", "_")
    .toUpperCase();
  const secret: Variable = [`${constant}_WEBHOOK_SECRET`, "", "the signing secret"];
  const options = OPTIONS[sender] === undefined ? [] : [OPTIONS[sender]];
  const linesOf = (line: (...variable: Variable) => string): string =>
    [secret, ...options.map(([, variable]) => variable)].map((each) => line(...each)).join("\n");
  const argument = options.map(([option, [name]]) => `{ ${option}: config.${name} }`).join("");
  const eventType = EVENT_TYPES[sender] ?? `${factory[0]?.toUpperCase()}${factory.slice(1)}Event`;
  const { body, headers = {} } = (builtInSender(sender) as AnySender).sample(SAMPLE_TIME);
  const replacements: readonly (readonly [RegExp, string])[] = [
    [
      /^ {2}SECRET_FILE: z.*$/m,
      linesOf((name, _local, is) => `  ${name}: z.string("must be ${is}"),`),
    ],
    [/^# SECRET_FILE=.*$/m, linesOf((name, local) => `${name}=${local}`)],
    [/^\| `SECRET_FILE` .*$/m, linesOf(tableRow)],
    [/^ +SECRET_FILE: .*\n| SECRET_FILE=\/data\S+|^# The signing secrets are in a volume.*\n/m, ""],
    [
      /The inbox and the signing secrets are in a volume, so they survive/,
      "The inbox is in a volume, so it survives",
    ],
    // A row in the inbox is of an endpoint.
    [/(?<=signalbox inbox (ls|retry))/g, ` --endpoint ${sender}`],
    [/The volume has the inbox too,/, "The volume `data` has the inbox,"],
    // Not each sender does.
    [/ The\nservice repeats deliveries[^.]+\./, ""],
    [
      /(?<=WEBHOOK_SECRET: SECRET)/,
      options.map(([, [name, local]]) => `, ${name}: "${local}"`).join(""),
    ],
    [/\bSTRIPE_WEBHOOK_SECRET\b/g, secret[0]],
    [/\bstripe(?= \} from)/, factory],
    [/\bstripe\(\)/, `${factory}(${argument})`],
    [/\bstripe\b|\bsignals(?=\.db)|(?<=\/webhooks\/)signals\b/g, sender],
    [/import \{ isKnownSignalType, type Handoff.*\}/, "import type { Handoff }"],
    [/, secretFile(?= )/, ""],
    [/\bStripeEvent\b/g, eventType],
    [/^import type \{ Record<.*\n/m, ""],
    [/\bonSignal\b/g, "onEvent"],
    [/\bon-signal\b/g, "on-event"],
    [/\ba signal\b/g, "an event"],
    [/\bsignal\b/g, "event"],
    [/\bSignals\b(?= )/g, "Events"],
    [
      /webhook events \("signals"\) of a Product Intelligence service/,
      `webhooks of [${sender}]({{page}})`,
    ],
    [/, restarts it after changes, and runs the service\n[^.]+/, " and restarts it after changes"],
    [/with an emulator of the service/, "and restarts it after changes  "],
    [/^\| `npm run (replay|register)` .*\n/gm, ""],
    [/\{\{page\}\}/g, PAGES[sender] ?? ""],
    [/"\{\{event\}\}"/, JSON.stringify(body, null, 2)],
    [/"\{\{headers\}\}"/, JSON.stringify(headers)],
  ];
  return (text) =>
    replacements.reduce((translated, [from, to]) => translated.replace(from, () => to), text);
}
