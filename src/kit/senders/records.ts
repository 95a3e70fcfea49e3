import type * as senders from "./index.js";

/** An option without which a sender cannot be made. */
export interface NeededOption {
  /** The variable of the environment with its value, in a receiver that `init` writes. */
  variable: string;
  /** Its value on the user's machine. A tool takes it where the option does not matter. */
  local: string;
  /** What it is, after "must be". */
  is: string;
}

/** A function of `signalbox/senders` that makes a sender. */
export type Factory = Exclude<keyof typeof senders, "defineSender">;
type OptionsOf<Name extends Factory> = NonNullable<Parameters<(typeof senders)[Name]>[0]>;
type RequiredIn<Options> = {
  [Key in keyof Options]-?: object extends Pick<Options, Key> ? never : Key;
}[keyof Options];

/** An event of which `eventUrl` is made. Not all of it is signed. */
export interface LinkedEvent {
  eventId: string;
  type: string;
  subject: string | null;
  headers: Readonly<Record<string, string>>;
  payload: string | null;
}

/** What is known of a sender beside how it signs. */
type RecordOf<Name extends Factory> = {
  /** Its events are stored with this name, and `--sender` takes it. */
  name: string;
  /** Where it says how to add a webhook. */
  page: string;
  /** A command of the sender that brings its events to an address without `http://`. */
  forward?: (address: string) => string;
  /** The type of its events: one of `signalbox/senders`, or a TypeScript type. */
  eventType: string;
  /** The options that follow from the secret. */
  optionsOfSecret?: (secret: string) => OptionsOf<Name>;
  /**
   * Where the sender's own page shows the event, or what it is about; empty: nowhere. The host is
   * fixed, and what stands in the path has been checked or encoded: a stranger may have written it.
   */
  eventUrl?: (event: LinkedEvent) => string;
} & ([RequiredIn<OptionsOf<Name>>] extends [never]
  ? { needs?: undefined }
  : { needs: { [Option in RequiredIn<OptionsOf<Name>>]: NeededOption } });

/**
 * The record of each sender of `signalbox/senders`, by its function. All that the command line
 * knows of one is made from it: the names that `--sender` takes, whether `--public-url` is needed,
 * and what `init` writes. It loads no sender, so that help texts are fast.
 */
const RECORDS = {
  standardWebhooks: {
    name: "standard-webhooks",
    page: "https://www.standardwebhooks.com",
    eventType: "StandardWebhooksEvent",
  },
  svix: {
    name: "svix",
    page: "https://docs.svix.com/receiving/introduction",
    eventType: "StandardWebhooksEvent",
  },
  stripe: {
    name: "stripe",
    page: "https://docs.stripe.com/webhooks",
    eventType: "StripeEvent",
    forward: (address) => `stripe listen --forward-to ${address}`,
    eventUrl: ({ eventId, payload }) =>
      `https://dashboard.stripe.com/${/"livemode": ?false/.test(payload ?? "") ? "test/" : ""}events/${encodeURIComponent(eventId)}`,
  },
  github: {
    name: "github",
    page: "https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks",
    eventType: "GithubPayload",
    forward: (address) =>
      `. ./.env && gh webhook forward --repo=OWNER/REPO --events=push,issues --url=http://${address} --secret="$GITHUB_WEBHOOK_SECRET"`,
    // The deliveries of the webhook of a repository.
    eventUrl({ subject, headers }) {
      const path = `${subject}/settings/hooks/${headers["x-github-hook-id"]}`;
      return /^[\w.-]+\/[\w.-]+\/settings\/hooks\/\d+$/.test(path)
        ? `https://github.com/${path}?tab=deliveries`
        : "";
    },
  },
  gitlab: {
    name: "gitlab",
    page: "https://docs.gitlab.com/user/project/integrations/webhooks/",
    eventType: "GitlabPayload",
    // A secret of another form is no signing token, and is sent as it is.
    optionsOfSecret: (secret) => ({ token: !secret.startsWith("whsec_") }),
  },
  shopify: {
    name: "shopify",
    page: "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
    eventType: "Record<string, unknown>",
    eventUrl({ type, subject, payload }) {
      const [, shop, kind, id] =
        /^([a-z\d-]+)\.myshopify\.com (orders|products|customers)\/\S* \{"id": ?(\d+),/.exec(
          `${subject} ${type} ${payload}`,
        ) ?? [];
      return id === undefined ? "" : `https://admin.shopify.com/store/${shop}/${kind}/${id}`;
    },
  },
  slack: {
    name: "slack",
    page: "https://docs.slack.dev/apis/events-api/",
    eventType: "SlackEvent",
  },
  paddle: {
    name: "paddle",
    page: "https://developer.paddle.com/webhooks/about/notification-destinations",
    eventType: "PaddleEvent",
  },
  lemonSqueezy: {
    name: "lemon-squeezy",
    page: "https://docs.lemonsqueezy.com/help/webhooks",
    eventType: "LemonSqueezyEvent",
  },
  linear: {
    name: "linear",
    page: "https://linear.app/developers/webhooks",
    eventType: "LinearEvent",
  },
  twilio: {
    name: "twilio",
    page: "https://www.twilio.com/docs/usage/webhooks/webhooks-overview",
    eventType: "TwilioEvent",
    needs: { publicUrl: publicUrlOf("twilio") },
  },
  zoom: {
    name: "zoom",
    page: "https://developers.zoom.us/docs/api/webhooks/",
    eventType: "ZoomEvent",
  },
  meta: {
    name: "meta",
    page: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
    eventType: "MetaEvent",
    needs: {
      verifyToken: {
        variable: "META_VERIFY_TOKEN",
        local: "local-token",
        is: "the token that you chose for it",
      },
    },
  },
  twitch: {
    name: "twitch",
    page: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
    eventType: "TwitchEvent",
  },
} as const satisfies { [Name in Factory]: RecordOf<Name> };

function publicUrlOf(name: string): NeededOption {
  return {
    variable: "PUBLIC_URL",
    local: `http://localhost:3000/webhooks/${name}`,
    is: "the address that it posts to",
  };
}

/** The name of a sender of `signalbox/senders`. */
export type SenderName = (typeof RECORDS)[Factory]["name"];

export interface SenderRecord {
  name: SenderName;
  /** Its function in `signalbox/senders`. */
  factory: Factory;
  page: string;
  forward?: (address: string) => string;
  eventType: string;
  needs: Readonly<Record<string, NeededOption>>;
  optionsOfSecret: (secret: string) => object;
  eventUrl: (event: LinkedEvent) => string;
}

export const SENDERS: readonly SenderRecord[] = Object.entries(RECORDS).map(
  ([factory, record]) => ({
    needs: {},
    optionsOfSecret: () => ({}),
    eventUrl: () => "",
    ...record,
    factory: factory as Factory,
  }),
);

export const SENDER_NAMES: readonly SenderName[] = SENDERS.map(({ name }) => name);

/** The record of a sender. */
export function recordOf(name: SenderName): SenderRecord {
  return SENDERS.find((record) => record.name === name) as SenderRecord;
}
