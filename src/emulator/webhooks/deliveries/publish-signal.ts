import { LIMITS } from "../../../api/limits.js";
import type { ServiceLocale } from "../../../api/locale.js";
import type { SignalEvent } from "../../../events/envelope.js";
import type { EmulatorCore } from "../../instance/core.js";
import { EVENT_LIFE_MS, type Outbox } from "./outbox.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { SignalDraft } from "../../market/signals/due-signals.js";

/** What publishing a signal came to. */
export interface PublishedSignal {
  signal_id: number;
  /** `sig_<signal_id>_<product_id>`: the id of its event. */
  event_id: string;
  /** How many registrations it goes to. */
  registrations: number;
  /** Accounts that follow the product and have had their 1,000 of the last 24 hours. */
  accounts_over_limit: number;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Publishes signals (service document, signal.published). A signal goes to every active registration with its type, of every account that follows its product. Follow and registration
 * must be older than the publishing. A signal that is a day old is not sent.
 */
export function createPublishSignal({ database, clock, scheduler, assumptions }: EmulatorCore, outbox: Outbox) {
  const insertSignal = database.prepare<[number, string, number, number, string]>(
    "INSERT INTO signal VALUES (?, ?, ?, ?, ?)",
  );
  const lastSignal = database.prepare<[], { last: number | null }>("SELECT max(signal_id) AS last FROM signal");
  const receiving = database.prepare<[{ toolId: number; type: string; publishedAt: number }], RegistrationRow>(
    `SELECT r.* FROM registration r JOIN follow f ON f.account_id = r.account_id AND f.tool_id = @toolId
     WHERE r.status = 'active' AND f.followed_at <= @publishedAt AND r.created_at <= @publishedAt
       AND EXISTS (SELECT 1 FROM json_each(r.signal_types) WHERE value = @type)
     ORDER BY r.account_id, r.created_at, r.registration_id`,
  );
  const sentSince = database.prepare<[number, number], { sent: number }>(
    "SELECT count(*) AS sent FROM account_signal WHERE account_id = ? AND sent_at > ?",
  );
  const noteSent = database.prepare<[number, number, number]>("INSERT INTO account_signal VALUES (?, ?, ?)");
  const slugOf = database.prepare<[number], { slug: string }>("SELECT slug FROM product WHERE tool_id = ?");

  const publish = database.transaction(
    (draft: SignalDraft, options: { publishedAt?: number | undefined } = {}): PublishedSignal => {
      const now = clock.now();
      const publishedAt = options.publishedAt ?? now;
      const signalId = (lastSignal.get()?.last ?? assumptions.firstSignalId - 1) + 1;
      const eventId = `sig_${signalId}_${draft.tool_id}`;
      const slug = slugOf.get(draft.tool_id)?.slug ?? String(draft.tool_id);
      insertSignal.run(signalId, draft.signal_type, draft.tool_id, publishedAt, JSON.stringify(draft));

      const result = { signal_id: signalId, event_id: eventId, registrations: 0, accounts_over_limit: 0 };
      if (now - publishedAt > EVENT_LIFE_MS) return result;
      const mayReceive = new Map<number, boolean>();
      for (const registration of receiving.all({ toolId: draft.tool_id, type: draft.signal_type, publishedAt })) {
        const { account_id: accountId, locale } = registration;
        // An event for two registrations of one account counts once in its 1,000.
        if (!mayReceive.has(accountId)) {
          const isWithinLimit = (sentSince.get(accountId, now - DAY_MS)?.sent ?? 0) < LIMITS.signalsPerDay;
          mayReceive.set(accountId, isWithinLimit);
          if (isWithinLimit) noteSent.run(accountId, signalId, now);
          else result.accounts_over_limit++;
        }
        if (mayReceive.get(accountId) !== true) continue;
        outbox.add(
          registration,
          () => signalEvent(draft, { signalId, eventId, slug, locale, publishedAt }),
          eventId,
          publishedAt,
        );
        result.registrations++;
      }
      return result;
    },
  );
  return (draft: SignalDraft, options?: { publishedAt?: number | undefined }): PublishedSignal => {
    const result = publish(draft, options);
    scheduler.wake();
    return result;
  };
}

function signalEvent(
  draft: SignalDraft,
  facts: { signalId: number; eventId: string; slug: string; locale: ServiceLocale; publishedAt: number },
): SignalEvent {
  const { title, summary, evidence_summary } = draft.text[facts.locale];
  const publishedAt = new Date(facts.publishedAt).toISOString();
  return {
    id: facts.eventId,
    version: "1",
    type: "signal.published",
    // The time of publishing, not the present: the same signal has the same bytes in every run.
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
