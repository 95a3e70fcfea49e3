import type { SignalEvent } from "../../../../kit/senders/signals/envelope.js";
import { LIMITS } from "../../../contract/limits.js";
import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { SignalDraft } from "../../market/signals/due-signals.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import { EVENT_LIFE_MS, type Outbox } from "./outbox.js";

/** The result of publishing a signal. */
export interface PublishedSignal {
  signal_id: number;
  /** `sig_<signal_id>_<product_id>`. */
  event_id: string;
  /** The product's. */
  slug: string;
  /** The number of registrations that the signal is sent to. */
  registrations: number;
  /**
   * The number of followers that already got 1,000 signals in the last 24 hours. The signal is not
   * sent to them.
   */
  accounts_over_limit: number;
  /** Why a signal that was published by hand is sent to no registration. */
  hint?: string;
}

/** How to publish a signal. */
export interface PublishOptions {
  /** In milliseconds since 1970. @default now */
  publishedAt?: number | undefined;
  /** A person wants this signal to be sent, so the result says why if it is not. @default false */
  isByHand?: boolean;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Publishes signals (service document, signal.published). A signal is sent to the active
 * registrations that list its type, if their accounts follow its product. The follow and the
 * registration must not be newer than the signal. A signal that is more than 24 hours old is stored
 * but not sent.
 */
export function createPublishSignal(
  { database, clock, scheduler, assumptions }: EmulatorCore,
  outbox: Outbox,
  signalsPerDay: number = LIMITS.signalsPerDay,
) {
  const insertSignal = database.prepare<[number, string, number, number, string]>(
    "INSERT INTO signal VALUES (?, ?, ?, ?, ?)",
  );
  const lastSignal = database.prepare<[], { last: number | null }>(
    "SELECT max(signal_id) AS last FROM signal",
  );
  const receiving = database.prepare<
    [{ toolId: number; type: string; publishedAt: number }],
    RegistrationRow
  >(
    `SELECT r.* FROM registration r JOIN follow f ON f.account_id = r.account_id AND f.tool_id = @toolId
     WHERE r.status = 'active' AND f.followed_at <= @publishedAt AND r.created_at <= @publishedAt
       AND EXISTS (SELECT 1 FROM json_each(r.signal_types) WHERE value = @type)
     ORDER BY r.account_id, r.created_at, r.registration_id`,
  );
  const sentSince = database.prepare<[number, number], { sent: number }>(
    "SELECT count(*) AS sent FROM account_signal WHERE account_id = ? AND sent_at > ?",
  );
  const noteSent = database.prepare<[number, number, number]>(
    "INSERT INTO account_signal VALUES (?, ?, ?)",
  );
  const countFollowers = database
    .prepare<[number], number>("SELECT count(*) FROM follow WHERE tool_id = ?")
    .pluck();
  const slugOf = database.prepare<[number], { slug: string }>(
    "SELECT slug FROM product WHERE tool_id = ?",
  );

  function whyNotSent(
    { tool_id }: SignalDraft,
    { slug, accounts_over_limit }: PublishedSignal,
    ageMs: number,
  ): string {
    if (ageMs > EVENT_LIFE_MS) return `it is more than ${LIMITS.signalDelayHours} hours old`;
    if (accounts_over_limit > 0)
      return `its followers got ${signalsPerDay} signals in the last 24 hours`;
    if (countFollowers.get(tool_id) === 0)
      return `nobody follows it; to follow it: npx signalbox emulator follow ${slug}`;
    return "no follower has an active registration for this signal type";
  }

  const publish = database.transaction(
    (
      draft: SignalDraft,
      { publishedAt = clock.now(), isByHand = false }: PublishOptions,
    ): PublishedSignal => {
      const now = clock.now();
      const signalId = (lastSignal.get()?.last ?? assumptions.firstSignalId - 1) + 1;
      const eventId = `sig_${signalId}_${draft.tool_id}`;
      const slug = slugOf.get(draft.tool_id)?.slug ?? String(draft.tool_id);
      insertSignal.run(
        signalId,
        draft.signal_type,
        draft.tool_id,
        publishedAt,
        JSON.stringify(draft),
      );

      const result: PublishedSignal = {
        signal_id: signalId,
        event_id: eventId,
        slug,
        registrations: 0,
        accounts_over_limit: 0,
      };
      const isTooOld = now - publishedAt > EVENT_LIFE_MS;
      const registrations = receiving.all({
        toolId: draft.tool_id,
        type: draft.signal_type,
        publishedAt,
      });
      const isWithinLimit = new Map<number, boolean>();
      for (const registration of isTooOld ? [] : registrations) {
        const { account_id: accountId, locale } = registration;
        // A signal for two registrations of an account counts once toward the account's daily
        // limit.
        if (!isWithinLimit.has(accountId)) {
          const isWithin = (sentSince.get(accountId, now - DAY_MS)?.sent ?? 0) < signalsPerDay;
          isWithinLimit.set(accountId, isWithin);
          if (isWithin) noteSent.run(accountId, signalId, now);
          else result.accounts_over_limit++;
        }
        if (isWithinLimit.get(accountId) !== true) continue;
        outbox.add(
          registration,
          () => signalEvent(draft, { signalId, eventId, slug, locale, publishedAt }),
          eventId,
          publishedAt,
        );
        result.registrations++;
      }
      if (isByHand && result.registrations === 0)
        result.hint = whyNotSent(draft, result, now - publishedAt);
      return result;
    },
  );
  return (draft: SignalDraft, options: PublishOptions = {}): PublishedSignal => {
    const result = publish(draft, options);
    scheduler.wake();
    return result;
  };
}

function signalEvent(
  draft: SignalDraft,
  facts: {
    signalId: number;
    eventId: string;
    slug: string;
    locale: ServiceLocale;
    publishedAt: number;
  },
): SignalEvent {
  const { title, summary, evidence_summary } = draft.text[facts.locale];
  const publishedAt = new Date(facts.publishedAt).toISOString();
  return {
    id: facts.eventId,
    version: "1",
    type: "signal.published",
    // Not the present time, which differs between runs: a signal must have the same bytes in every
    // run.
    created_at: publishedAt,
    data: {
      signal_id: facts.signalId,
      signal_type: draft.signal_type,
      product: { id: draft.tool_id, slug: facts.slug },
      title,
      summary,
      change: draft.change,
      observed_at: new Date(draft.observed_at).toISOString(),
      period: draft.period,
      published_at: publishedAt,
      evidence_summary,
      url: `https://catalog.example/${facts.locale}/tools/${facts.slug}`,
    },
  };
}
