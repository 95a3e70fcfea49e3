import { z } from "zod";
import { SIGNAL_TYPES } from "../../../../kit/senders/signals/signal-types.js";
import { dateTimeSchema } from "../../../contract/shared-schemas.js";
import { registerWebhookBodySchema } from "../../../contract/webhook-registration.js";
import { controlOperation } from "../../control/control-operation.js";
import type { EmulatorCore } from "../../instance/core.js";
import { draftSignal } from "../../market/signals/derive-signals.js";
import { ServiceError } from "../../operations/service-error.js";
import type { Webhooks } from "../create-webhooks.js";
import type { PublishedSignal } from "../deliveries/publish-signal.js";

const accountId = z.int().min(1);
const slug = z.string().min(1).max(200);
const text = z.string().min(1).max(2000).optional();
const measure = z.strictObject({ value: z.number(), unit: z.string().min(1).max(60) });
const onRegistration = z.strictObject({ registration_id: z.string() });

const publishInput = z.strictObject({
  signal_type: z.enum(SIGNAL_TYPES),
  slug,
  title: text,
  summary: text,
  evidence_summary: text,
  change: z
    .strictObject({
      direction: z.string().min(1).max(60),
      magnitude: z.number(),
      before: measure,
      after: measure,
    })
    .optional(),
  period: z
    .strictObject({ start: z.iso.date(), end: z.iso.date() })
    .refine(({ start, end }) => start <= end, {
      path: ["end"],
      message: "is earlier than period.start",
    })
    .optional(),
  observed_at: dateTimeSchema.optional(),
  published_at: dateTimeSchema.optional(),
});

/**
 * The control operations on follows, registrations and signals. The real service has most of them
 * in its dashboard.
 */
export function webhooksControl(
  { database, clock }: Pick<EmulatorCore, "database" | "clock">,
  webhooks: Webhooks,
  /** @throws ServiceError when there is no such account */
  assertAccount: (accountId: number) => void,
) {
  const { registrations, follows } = webhooks;
  const followed = (account_id: number): { items: ReturnType<typeof follows.list> } => {
    assertAccount(account_id);
    return { items: follows.list(account_id) };
  };

  function publish(input: z.output<typeof publishInput>): PublishedSignal {
    const { slug: productSlug, signal_type, published_at, observed_at, ...texts } = input;
    const product = database.row<{ tool_id: number; name: string }>(
      "SELECT tool_id, name FROM product WHERE slug = ?",
      productSlug,
    );
    if (product === undefined)
      throw new ServiceError("PRODUCT_NOT_FOUND", "There is no product with this slug.");
    const now = clock.now();
    const publishedAt = published_at === undefined ? now : Date.parse(published_at);
    if (publishedAt > now)
      throw new ServiceError("INVALID_PARAMETERS", "published_at: is in the future.");
    const overrides = {
      ...texts,
      observed_at: observed_at === undefined ? undefined : Date.parse(observed_at),
    };
    const draft = draftSignal(database, { ...product, signal_type }, publishedAt, overrides);
    return webhooks.publish(draft, { publishedAt, isByHand: true });
  }

  return {
    listProducts: controlOperation("GET /products", "Lists the slugs of all products.", {}, () => ({
      slugs: database
        .rows<{ slug: string }>("SELECT slug FROM product ORDER BY slug")
        .map((product) => product.slug),
    })),
    listFollows: controlOperation(
      "GET /accounts/{account_id}/follows",
      "Lists the products that an account follows.",
      { account_id: accountId },
      ({ account_id }) => followed(account_id),
    ),
    follow: controlOperation(
      "POST /accounts/{account_id}/follows",
      "Makes an account follow products. It gets signals about them from now on.",
      { account_id: accountId, slugs: z.array(slug).min(1).max(1000) },
      ({ account_id, slugs }) => {
        assertAccount(account_id);
        follows.follow(account_id, slugs);
        return followed(account_id);
      },
    ),
    unfollow: controlOperation(
      "DELETE /accounts/{account_id}/follows/{slug}",
      "Makes an account stop following a product.",
      { account_id: accountId, slug },
      ({ account_id, slug: productSlug }) => {
        assertAccount(account_id);
        follows.unfollow(account_id, productSlug);
        return followed(account_id);
      },
    ),
    listRegistrations: controlOperation(
      "GET /registrations",
      "Lists the webhook registrations of an account or of all accounts, including deleted registrations.",
      { account_id: accountId.optional() },
      ({ account_id }) => ({ items: registrations.list(account_id) }),
    ),
    readRegistration: controlOperation(
      "GET /registrations/{registration_id}",
      "Shows a webhook registration, without its secret.",
      onRegistration,
      ({ registration_id }) => registrations.read(registration_id),
    ),
    updateRegistration: controlOperation(
      "PATCH /registrations/{registration_id}",
      "Changes the url, locale or signal_types of a registration. With another url it is pending until the new endpoint has answered the verification.",
      onRegistration.extend({
        ...registerWebhookBodySchema.partial().shape,
        locale: registerWebhookBodySchema.shape.locale.unwrap().optional(),
      }),
      ({ registration_id, ...changes }) => registrations.update(registration_id, changes),
    ),
    pauseRegistration: controlOperation(
      "POST /registrations/{registration_id}/pause",
      "Pauses an active registration. It gets no new signals. Its waiting deliveries stay until they expire.",
      onRegistration,
      ({ registration_id }) => registrations.setStatus(registration_id, "paused"),
    ),
    resumeRegistration: controlOperation(
      "POST /registrations/{registration_id}/resume",
      "Makes a paused registration active again, with a failure count of 0.",
      onRegistration,
      ({ registration_id }) => registrations.setStatus(registration_id, "active"),
    ),
    deleteRegistration: controlOperation(
      "DELETE /registrations/{registration_id}",
      "Deletes a registration and cancels its waiting deliveries. This cannot be undone.",
      onRegistration,
      ({ registration_id }) => registrations.setStatus(registration_id, "deleted"),
    ),
    rotateSecret: controlOperation(
      "POST /registrations/{registration_id}/rotate",
      "Gives a registration a new signing secret. It is shown only in this answer: store it.",
      onRegistration,
      ({ registration_id }) => registrations.rotateSecret(registration_id),
    ),
    sendTestEvent: controlOperation(
      "POST /registrations/{registration_id}/test",
      "Sends a webhook.test event to an active registration.",
      onRegistration.extend({
        message: z.string().max(2000).default("This is a test event."),
      }),
      ({ registration_id, message }) => ({
        delivery_id: registrations.sendTest(registration_id, message),
      }),
    ),
    verifyRegistration: controlOperation(
      "POST /registrations/{registration_id}/verify",
      "Sends the verification again to a pending registration.",
      onRegistration,
      ({ registration_id }) => ({ delivery_id: registrations.verifyAgain(registration_id) }),
    ),
    publishSignal: controlOperation(
      "POST /signals",
      "Publishes a signal about a product. Fields that are left out come from the data of the last observed month. If it is sent to no registration, the hint in the answer says why.",
      publishInput,
      publish,
    ),
  };
}
