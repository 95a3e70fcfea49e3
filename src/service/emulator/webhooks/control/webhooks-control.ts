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
  const findProduct = database.prepare<[string], { tool_id: number; name: string }>(
    "SELECT tool_id, name FROM product WHERE slug = ?",
  );
  const followed = (account_id: number): { items: ReturnType<typeof follows.list> } => {
    assertAccount(account_id);
    return { items: follows.list(account_id) };
  };

  function publish(input: z.output<typeof publishInput>): PublishedSignal {
    const { slug: productSlug, signal_type, published_at, observed_at, ...texts } = input;
    const product = findProduct.get(productSlug);
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
    listFollows: controlOperation({
      method: "GET",
      path: "/accounts/{account_id}/follows",
      about: "Lists the products that an account follows.",
      input: z.strictObject({ account_id: accountId }),
      run: ({ account_id }) => followed(account_id),
    }),
    follow: controlOperation({
      method: "POST",
      path: "/accounts/{account_id}/follows",
      about: "Makes an account follow products. It gets signals about them from now on.",
      input: z.strictObject({ account_id: accountId, slugs: z.array(slug).min(1).max(1000) }),
      run({ account_id, slugs }) {
        assertAccount(account_id);
        follows.follow(account_id, slugs);
        return followed(account_id);
      },
    }),
    unfollow: controlOperation({
      method: "DELETE",
      path: "/accounts/{account_id}/follows/{slug}",
      about: "Makes an account stop following a product.",
      input: z.strictObject({ account_id: accountId, slug }),
      run({ account_id, slug: productSlug }) {
        assertAccount(account_id);
        follows.unfollow(account_id, productSlug);
        return followed(account_id);
      },
    }),
    listRegistrations: controlOperation({
      method: "GET",
      path: "/registrations",
      about:
        "Lists the webhook registrations of an account or of all accounts, including deleted registrations.",
      input: z.strictObject({ account_id: accountId.optional() }),
      run: ({ account_id }) => ({ items: registrations.list({ accountId: account_id }) }),
    }),
    readRegistration: controlOperation({
      method: "GET",
      path: "/registrations/{registration_id}",
      about: "Shows a webhook registration, without its secret.",
      input: onRegistration,
      run: ({ registration_id }) => registrations.read(registration_id),
    }),
    updateRegistration: controlOperation({
      method: "PATCH",
      path: "/registrations/{registration_id}",
      about:
        "Changes the url, locale or signal_types of a registration. With another url it is pending until the new endpoint has answered the verification.",
      input: onRegistration.extend({
        ...registerWebhookBodySchema.partial().shape,
        locale: registerWebhookBodySchema.shape.locale.unwrap().optional(),
      }),
      run: ({ registration_id, ...changes }) => registrations.update(registration_id, changes),
    }),
    pauseRegistration: controlOperation({
      method: "POST",
      path: "/registrations/{registration_id}/pause",
      about:
        "Pauses an active registration. It gets no new signals. Its waiting deliveries stay until they expire.",
      input: onRegistration,
      run: ({ registration_id }) => registrations.setStatus(registration_id, "paused"),
    }),
    resumeRegistration: controlOperation({
      method: "POST",
      path: "/registrations/{registration_id}/resume",
      about: "Makes a paused registration active again, with a failure count of 0.",
      input: onRegistration,
      run: ({ registration_id }) => registrations.setStatus(registration_id, "active"),
    }),
    deleteRegistration: controlOperation({
      method: "DELETE",
      path: "/registrations/{registration_id}",
      about: "Deletes a registration and cancels its waiting deliveries. This cannot be undone.",
      input: onRegistration,
      run: ({ registration_id }) => registrations.setStatus(registration_id, "deleted"),
    }),
    rotateSecret: controlOperation({
      method: "POST",
      path: "/registrations/{registration_id}/rotate",
      about:
        "Gives a registration a new signing secret. It is shown only in this answer: store it.",
      input: onRegistration,
      run: ({ registration_id }) => registrations.rotateSecret(registration_id),
    }),
    sendTestEvent: controlOperation({
      method: "POST",
      path: "/registrations/{registration_id}/test",
      about: "Sends a webhook.test event to an active registration.",
      input: onRegistration.extend({
        message: z.string().max(2000).default("This is a test event."),
      }),
      run: ({ registration_id, message }) => ({
        delivery_id: registrations.sendTest(registration_id, message),
      }),
    }),
    verifyRegistration: controlOperation({
      method: "POST",
      path: "/registrations/{registration_id}/verify",
      about: "Sends the verification again to a pending registration.",
      input: onRegistration,
      run: ({ registration_id }) => ({ delivery_id: registrations.verifyAgain(registration_id) }),
    }),
    publishSignal: controlOperation({
      method: "POST",
      path: "/signals",
      about:
        "Publishes a signal about a product. Fields that are left out come from the data of the last observed month. If it is sent to no registration, the hint in the answer says why.",
      input: publishInput,
      run: publish,
    }),
  };
}
