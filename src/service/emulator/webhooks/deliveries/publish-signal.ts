import type { SignalEvent } from "../../../../kit/senders/signals/envelope.js";
import { LIMITS } from "../../../contract/limits.js";
import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { SignalDraft } from "../../market/signals/derive-signals.js";
import { dateTime } from "../../time/emulator-clock.js";
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
) {
  const receiving = (draft: SignalDraft, publishedAt: number): RegistrationRow[] =>
    database.rows(
      `SELECT r.* FROM registration r JOIN follow f ON f.account_id = r.account_id AND f.tool_id = @tool_id
       WHERE r.status = 'active' AND f.followed_at <= @publishedAt AND r.created_at <= @publishedAt
         AND EXISTS (SELECT 1 FROM json_each(r.signal_types) WHERE value = @signal_type)
       ORDER BY r.account_id, r.created_at, r.registration_id`,
      { tool_id: draft.tool_id, signal_type: draft.signal_type, publishedAt },
    );

  /** A signal for two registrations of an account counts once toward the account's daily limit. */
  function isWithinLimit(account_id: number, signal_id: number): boolean {
    const sent_at = clock.now();
    const sql = "SELECT count(*) FROM account_signal WHERE account_id = ? AND sent_at > ?";
    const isWithin =
      (database.value<number>(sql, account_id, sent_at - DAY_MS) ?? 0) < LIMITS.signalsPerDay;
    if (isWithin) database.put("account_signal", { account_id, signal_id, sent_at });
    return isWithin;
  }

  function whyNotSent(
    { tool_id }: SignalDraft,
    { slug, accounts_over_limit }: PublishedSignal,
    ageMs: number,
  ): string {
    if (ageMs > EVENT_LIFE_MS) return `it is more than ${LIMITS.signalDelayHours} hours old`;
    if (accounts_over_limit > 0)
      return `its followers got ${LIMITS.signalsPerDay} signals in the last 24 hours`;
    if (database.row("SELECT 1 FROM follow WHERE tool_id = ?", tool_id) === undefined)
      return `nobody follows it; to follow it: npx signalbox emulator follow ${slug}`;
    return "no follower has an active registration for this signal type";
  }

  const publish = database.transaction(
    (
      draft: SignalDraft,
      { publishedAt = clock.now(), isByHand = false }: PublishOptions,
    ): PublishedSignal => {
      const { tool_id, signal_type } = draft;
      const last = database.value<number | null>("SELECT max(signal_id) FROM signal");
      const signal_id = (last ?? assumptions.firstSignalId - 1) + 1;
      const event_id = `sig_${signal_id}_${tool_id}`;
      const slug =
        database.value<string>("SELECT slug FROM product WHERE tool_id = ?", tool_id) ??
        String(tool_id);
      const signal = { signal_id, signal_type, tool_id, published_at: publishedAt };
      database.put("signal", { ...signal, draft: JSON.stringify(draft) });

      const result: PublishedSignal = {
        signal_id,
        event_id,
        slug,
        registrations: 0,
        accounts_over_limit: 0,
      };
      const ageMs = clock.now() - publishedAt;
      const mayReceive = new Map<number, boolean>();
      for (const registration of ageMs > EVENT_LIFE_MS ? [] : receiving(draft, publishedAt)) {
        const { account_id, locale } = registration;
        if (!mayReceive.has(account_id)) {
          mayReceive.set(account_id, isWithinLimit(account_id, signal_id));
          if (mayReceive.get(account_id) === false) result.accounts_over_limit++;
        }
        if (mayReceive.get(account_id) !== true) continue;
        const event = () => signalEvent(draft, result, locale, dateTime(publishedAt));
        outbox.add(registration, event, event_id, publishedAt);
        result.registrations++;
      }
      if (isByHand && result.registrations === 0) result.hint = whyNotSent(draft, result, ageMs);
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
  { signal_id, event_id, slug }: PublishedSignal,
  locale: ServiceLocale,
  publishedAt: string,
): SignalEvent {
  const { title, summary, evidence_summary } = draft.text[locale];
  return {
    id: event_id,
    version: "1",
    type: "signal.published",
    // Not the present time, which differs between runs: a signal must have the same bytes in every
    // run.
    created_at: publishedAt,
    data: {
      signal_id,
      signal_type: draft.signal_type,
      product: { id: draft.tool_id, slug },
      title,
      summary,
      change: draft.change,
      observed_at: dateTime(draft.observed_at),
      period: draft.period,
      published_at: publishedAt,
      evidence_summary,
      url: `https://catalog.example/${locale}/tools/${slug}`,
    },
  };
}
