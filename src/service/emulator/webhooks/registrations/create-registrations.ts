import type { z } from "zod";
import type { TestEvent, VerificationEvent } from "../../../../kit/senders/signals/envelope.js";
import { LIMITS } from "../../../contract/limits.js";
import type {
  registerWebhookBodySchema,
  RegistrationStatus,
  WebhookRegistration,
} from "../../../contract/webhook-registration.js";
import type { EmulatorCore } from "../../instance/core.js";
import { randomUuid } from "../../instance/random-source.js";
import { ServiceError } from "../../operations/service-error.js";
import type { Outbox } from "../deliveries/outbox.js";
import { refuseEndpoint } from "./endpoint-rules.js";
import { webhookRegistration, type RegistrationRow } from "./registration-row.js";

/** The body of registerWebhook, checked and with all defaults. */
export type RegistrationBody = z.output<typeof registerWebhookBodySchema>;

type RegistrationChanges = {
  [Name in keyof RegistrationBody]?: RegistrationBody[Name] | undefined;
};

const DAY_MS = 24 * 3_600_000;

/**
 * The webhook registrations of all accounts: registerWebhook, and the operations of the service's
 * dashboard.
 */
export function createRegistrations(core: EmulatorCore, outbox: Outbox) {
  const { database, clock, random, assumptions } = core;
  const find = database.prepare<[string], RegistrationRow>(
    "SELECT * FROM registration WHERE registration_id = ?",
  );
  const countSince = database.prepare<[number, number], { made: number }>(
    "SELECT count(*) AS made FROM registration WHERE account_id = ? AND created_at >= ?",
  );
  const insert = database.prepare<[RegistrationRow]>(
    `INSERT INTO registration (registration_id, account_id, url, status, locale, signal_types, failure_count, secret,
       challenge, created_at, updated_at)
     VALUES (@registration_id, @account_id, @url, @status, @locale, @signal_types, @failure_count, @secret, @challenge,
       @created_at, @updated_at)`,
  );

  const selectAll = database.prepare<[{ accountId: number | null }], RegistrationRow>(
    `SELECT * FROM registration WHERE @accountId IS NULL OR account_id = @accountId
     ORDER BY created_at, registration_id`,
  );
  const newChallenge = (): string => random.bytes(24).toString("base64url");
  const newSecret = (): string => `whsec_${random.bytes(32).toString("base64url")}`;

  function rowOf(registrationId: string): RegistrationRow {
    const row = find.get(registrationId);
    if (row !== undefined) return row;
    throw new ServiceError("RESOURCE_NOT_FOUND", "There is no webhook registration with this id.");
  }

  function existingRowOf(registrationId: string): RegistrationRow {
    const row = rowOf(registrationId);
    if (row.status !== "deleted") return row;
    throw new ServiceError("RESOURCE_NOT_FOUND", "The webhook registration is deleted.");
  }

  /**
   * @throws ServiceError `STATE_CONFLICT` unless the registration has this status; `rule` says so
   * to the caller
   */
  function rowThatIs(
    status: RegistrationStatus,
    registrationId: string,
    rule: string,
  ): RegistrationRow {
    const row = existingRowOf(registrationId);
    if (row.status === status) return row;
    throw new ServiceError("STATE_CONFLICT", `${rule}; this one is ${row.status}.`);
  }

  /** Sends an event that is no signal. @returns the id of the delivery */
  function send(
    row: RegistrationRow,
    content: Pick<TestEvent, "type" | "data"> | Pick<VerificationEvent, "type" | "data">,
  ) {
    const id = `evt_${randomUuid(random)}`;
    const now = clock.now();
    const event = {
      id,
      version: "1" as const,
      created_at: new Date(now).toISOString(),
      ...content,
    };
    return outbox.add(row, () => event, id, now);
  }

  const sendVerification = (row: RegistrationRow): number =>
    send(row, { type: "webhook.verification", data: { challenge: row.challenge } });

  const register = database.transaction(
    (accountId: number, body: RegistrationBody): WebhookRegistration => {
      refuseEndpoint(body.url, assumptions);
      const now = clock.now();
      const midnight = now - (now % DAY_MS);
      if ((countSince.get(accountId, midnight)?.made ?? 0) >= LIMITS.registrationsPerDay) {
        throw new ServiceError(
          "REGISTRATIONS_EXCEEDED",
          `The account has registered ${LIMITS.registrationsPerDay} webhooks today, which is the limit. Try again after midnight UTC.`,
          { details: { limit: LIMITS.registrationsPerDay } },
        );
      }
      const row: RegistrationRow = {
        registration_id: `wh_${randomUuid(random)}`,
        account_id: accountId,
        url: body.url,
        status: "pending",
        locale: body.locale,
        signal_types: JSON.stringify([...new Set(body.signal_types)]),
        failure_count: 0,
        secret: newSecret(),
        challenge: newChallenge(),
        created_at: now,
        updated_at: now,
      };
      insert.run(row);
      sendVerification(row);
      return { ...webhookRegistration(row), signing_secret: row.secret };
    },
  );

  const change = database.prepare<[{ id: string; status: RegistrationStatus; now: number }]>(
    "UPDATE registration SET status = @status, updated_at = @now WHERE registration_id = @id",
  );
  const resetFailures = database.prepare<[string]>(
    "UPDATE registration SET failure_count = 0 WHERE registration_id = ?",
  );
  const cancelWaiting = database.prepare<[string]>(
    "UPDATE delivery SET state = 'cancelled' WHERE registration_id = ? AND state = 'waiting'",
  );
  const setStatus = database.transaction((id: string, status: "active" | "paused" | "deleted") => {
    const from = existingRowOf(id).status;
    const isPossible =
      status === "deleted" || (status === "paused" ? from === "active" : from === "paused");
    if (!isPossible) {
      throw new ServiceError(
        "STATE_CONFLICT",
        `A registration that is ${from} cannot become ${status}.`,
      );
    }
    change.run({ id, status, now: clock.now() });
    if (status === "active") resetFailures.run(id);
    if (status === "deleted") cancelWaiting.run(id);
    return webhookRegistration(rowOf(id));
  });

  const replace = database.prepare<[RegistrationRow]>(
    `UPDATE registration SET url = @url, locale = @locale, signal_types = @signal_types, status = @status,
       challenge = @challenge, failure_count = @failure_count, updated_at = @updated_at
     WHERE registration_id = @registration_id`,
  );
  // They have the challenge of the endpoint before.
  const cancelVerifications = database.prepare<[string]>(
    "UPDATE delivery SET state = 'cancelled' WHERE registration_id = ? AND state = 'waiting' AND event_type = 'webhook.verification'",
  );
  const update = database.transaction(
    (id: string, { url, locale, signal_types }: RegistrationChanges) => {
      const before = existingRowOf(id);
      const row: RegistrationRow = {
        ...before,
        locale: locale ?? before.locale,
        updated_at: clock.now(),
      };
      if (signal_types !== undefined) row.signal_types = JSON.stringify([...new Set(signal_types)]);
      const isMoved = url !== undefined && url !== before.url;
      if (isMoved) {
        // Its verification would make it active again.
        if (before.status === "paused") {
          throw new ServiceError(
            "STATE_CONFLICT",
            "A paused registration keeps its url: resume it first.",
          );
        }
        refuseEndpoint(url, assumptions);
        Object.assign(row, { url, status: "pending", challenge: newChallenge(), failure_count: 0 });
      }
      replace.run(row);
      if (isMoved) {
        cancelVerifications.run(id);
        sendVerification(row);
      }
      return webhookRegistration(row);
    },
  );

  const rotate = database.prepare<[{ id: string; secret: string; now: number }]>(
    "UPDATE registration SET secret = @secret, updated_at = @now WHERE registration_id = @id",
  );

  const thenWake = <Result>(result: Result): Result => {
    core.scheduler.wake();
    return result;
  };

  return {
    /**
     * Adds a registration and sends its verification. No later answer contains the secret. @throws
     * ServiceError
     */
    register: (accountId: number, body: RegistrationBody) => thenWake(register(accountId, body)),
    list: ({ accountId = null }: { accountId?: number | null | undefined }) =>
      selectAll.all({ accountId }).map(webhookRegistration),
    /** Reads a registration, even a deleted one. @throws ServiceError `RESOURCE_NOT_FOUND` */
    read: (registrationId: string) => webhookRegistration(rowOf(registrationId)),
    /**
     * Changes what is given. A new endpoint is verified before it gets signals. @throws
     * ServiceError
     */
    update: (registrationId: string, changes: RegistrationChanges) =>
      thenWake(update(registrationId, changes)),
    /**
     * Pauses, resumes or deletes a registration. Deleting cancels its waiting deliveries. @throws
     * ServiceError
     */
    setStatus: (registrationId: string, status: "active" | "paused" | "deleted") =>
      thenWake(setStatus(registrationId, status)),
    /**
     * Replaces the secret. Waiting deliveries are signed with the new secret too. No later answer
     * contains the new secret.
     * @throws ServiceError
     */
    rotateSecret(registrationId: string): WebhookRegistration {
      const row = existingRowOf(registrationId);
      const secret = newSecret();
      const now = clock.now();
      rotate.run({ id: registrationId, secret, now });
      return { ...webhookRegistration({ ...row, updated_at: now }), signing_secret: secret };
    },
    /**
     * Sends a `webhook.test` event to an active registration. @returns the id of the delivery.
     * @throws ServiceError
     */
    sendTest(registrationId: string, message: string): number {
      const row = rowThatIs("active", registrationId, "A test event needs an active registration");
      return thenWake(send(row, { type: "webhook.test", data: { message } }));
    },
    /**
     * Sends the verification to a pending registration again. @returns the id of the delivery.
     * @throws ServiceError
     */
    verifyAgain: (registrationId: string): number =>
      thenWake(
        sendVerification(
          rowThatIs("pending", registrationId, "Only a pending registration can be verified"),
        ),
      ),
  };
}

/** A product that an account follows. */
export interface Follow {
  tool_id: number;
  slug: string;
  /** Date-time. */
  followed_at: string;
}

/**
 * Stores which products each account follows. An account gets signals only about these products.
 */
export function createFollows({ database, clock }: EmulatorCore) {
  const idOf = database
    .prepare<[string], number>("SELECT tool_id FROM product WHERE slug = ?")
    .pluck();
  const insert = database.prepare<[number, number, number]>(
    "INSERT OR IGNORE INTO follow (account_id, tool_id, followed_at) VALUES (?, ?, ?)",
  );
  const remove = database.prepare<[number, number]>(
    "DELETE FROM follow WHERE account_id = ? AND tool_id = ?",
  );
  const select = database.prepare<[number], Follow & { followed_at: number }>(
    `SELECT f.tool_id, p.slug, f.followed_at FROM follow f JOIN product p USING (tool_id)
     WHERE f.account_id = ? ORDER BY p.slug`,
  );

  function toolId(slug: string, parameter: string): number {
    const id = idOf.get(slug);
    if (id !== undefined) return id;
    const problem = "there is no product with this slug";
    throw new ServiceError("PRODUCT_NOT_FOUND", `${parameter}: ${problem}.`, {
      details: [{ parameter, problem }],
    });
  }

  return {
    /** @throws ServiceError `PRODUCT_NOT_FOUND` */
    follow: database.transaction((accountId: number, slugs: readonly string[]) => {
      for (const [index, slug] of slugs.entries())
        insert.run(accountId, toolId(slug, `slugs.${index}`), clock.now());
    }),
    /** @throws ServiceError `PRODUCT_NOT_FOUND` */
    unfollow(accountId: number, slug: string): void {
      remove.run(accountId, toolId(slug, "slug"));
    },
    list: (accountId: number): Follow[] =>
      select
        .all(accountId)
        .map((follow) => ({ ...follow, followed_at: new Date(follow.followed_at).toISOString() })),
  };
}
