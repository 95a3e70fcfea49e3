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
import { dateTime } from "../../time/emulator-clock.js";
import type { Outbox } from "../deliveries/outbox.js";
import { refuseEndpoint } from "./endpoint-rules.js";
import {
  cancelWaiting,
  changeRegistration,
  findRegistration,
  webhookRegistration,
  type RegistrationRow,
} from "./registration-row.js";

/** The body of registerWebhook, checked and with all defaults. */
export type RegistrationBody = z.output<typeof registerWebhookBodySchema>;

type RegistrationChanges = {
  [Name in keyof RegistrationBody]?: RegistrationBody[Name] | undefined;
};

const DAY_MS = 24 * 3_600_000;

const stored = (signalTypes: readonly string[]): string =>
  JSON.stringify([...new Set(signalTypes)]);

/**
 * The webhook registrations of all accounts: registerWebhook, and the operations of the service's
 * dashboard.
 */
export function createRegistrations(core: EmulatorCore, outbox: Outbox) {
  const { database, clock, random, assumptions } = core;
  const newChallenge = (): string => random.bytes(24).toString("base64url");
  const newSecret = (): string => `whsec_${random.bytes(32).toString("base64url")}`;

  function rowOf(registrationId: string): RegistrationRow {
    const row = findRegistration(database, registrationId);
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
  ): number {
    const id = `evt_${randomUuid(random)}`;
    const now = clock.now();
    const event = { id, version: "1" as const, created_at: dateTime(now), ...content };
    return outbox.add(row, () => event, id, now);
  }

  const sendVerification = (row: RegistrationRow): number =>
    send(row, { type: "webhook.verification", data: { challenge: row.challenge } });

  /** Runs a change in a transaction. Then the scheduler looks for what has become due. */
  function changing<Given extends unknown[], Result>(
    change: (...given: Given) => Result,
  ): (...given: Given) => Result {
    const transaction = database.transaction(change);
    return (...given) => {
      const result = transaction(...given);
      core.scheduler.wake();
      return result;
    };
  }

  return {
    /**
     * Adds a registration and sends its verification. No later answer contains the secret. @throws
     * ServiceError
     */
    register: changing((account_id: number, body: RegistrationBody): WebhookRegistration => {
      refuseEndpoint(body.url, assumptions);
      const now = clock.now();
      const made = database.value<number>(
        "SELECT count(*) FROM registration WHERE account_id = ? AND created_at >= ?",
        account_id,
        now - (now % DAY_MS),
      );
      if ((made ?? 0) >= LIMITS.registrationsPerDay) {
        throw new ServiceError(
          "REGISTRATIONS_EXCEEDED",
          `The account has registered ${LIMITS.registrationsPerDay} webhooks today, which is the limit. Try again after midnight UTC.`,
          { details: { limit: LIMITS.registrationsPerDay } },
        );
      }
      const row: RegistrationRow = {
        registration_id: `wh_${randomUuid(random)}`,
        account_id,
        url: body.url,
        status: "pending",
        locale: body.locale,
        signal_types: stored(body.signal_types),
        failure_count: 0,
        secret: newSecret(),
        challenge: newChallenge(),
        created_at: now,
        updated_at: now,
      };
      database.put("registration", row);
      sendVerification(row);
      return { ...webhookRegistration(row), signing_secret: row.secret };
    }),
    list: (accountId: number | null = null): WebhookRegistration[] =>
      database
        .rows<RegistrationRow>(
          `SELECT * FROM registration WHERE @accountId IS NULL OR account_id = @accountId
           ORDER BY created_at, registration_id`,
          { accountId },
        )
        .map(webhookRegistration),
    /** Reads a registration, even a deleted one. @throws ServiceError `RESOURCE_NOT_FOUND` */
    read: (registrationId: string) => webhookRegistration(rowOf(registrationId)),
    /**
     * Changes what is given. A new endpoint is verified before it gets signals. @throws
     * ServiceError
     */
    update: changing((id: string, { url, locale, signal_types }: RegistrationChanges) => {
      const before = existingRowOf(id);
      const changes: Partial<RegistrationRow> = {
        locale: locale ?? before.locale,
        ...(signal_types !== undefined && { signal_types: stored(signal_types) }),
      };
      if (url === undefined || url === before.url)
        return webhookRegistration(changeRegistration(core, before, changes));
      // The verification of its new endpoint would make it active again.
      if (before.status === "paused") {
        throw new ServiceError(
          "STATE_CONFLICT",
          "A paused registration keeps its url: resume it first.",
        );
      }
      refuseEndpoint(url, assumptions);
      const moved = {
        url,
        status: "pending",
        challenge: newChallenge(),
        failure_count: 0,
      } as const;
      const row = changeRegistration(core, before, { ...changes, ...moved });
      // They have the challenge of the endpoint before.
      cancelWaiting(database, id, true);
      sendVerification(row);
      return webhookRegistration(row);
    }),
    /**
     * Pauses, resumes or deletes a registration. Deleting cancels its waiting deliveries. @throws
     * ServiceError
     */
    setStatus: changing((id: string, status: "active" | "paused" | "deleted") => {
      const before = existingRowOf(id);
      const isPossible =
        status === "deleted" || before.status === (status === "paused" ? "active" : "paused");
      if (!isPossible) {
        throw new ServiceError(
          "STATE_CONFLICT",
          `A registration that is ${before.status} cannot become ${status}.`,
        );
      }
      if (status === "deleted") cancelWaiting(database, id);
      const failures = status === "active" ? { failure_count: 0 } : {};
      return webhookRegistration(changeRegistration(core, before, { status, ...failures }));
    }),
    /**
     * Replaces the secret. Waiting deliveries are signed with the new secret too. No later answer
     * contains the new secret.
     * @throws ServiceError
     */
    rotateSecret(registrationId: string): WebhookRegistration {
      const secret = newSecret();
      const row = changeRegistration(core, existingRowOf(registrationId), { secret });
      return { ...webhookRegistration(row), signing_secret: secret };
    },
    /**
     * Sends a `webhook.test` event to an active registration. @returns the id of the delivery.
     * @throws ServiceError
     */
    sendTest: changing((registrationId: string, message: string) => {
      const row = rowThatIs("active", registrationId, "A test event needs an active registration");
      return send(row, { type: "webhook.test", data: { message } });
    }),
    /**
     * Sends the verification to a pending registration again. @returns the id of the delivery.
     * @throws ServiceError
     */
    verifyAgain: changing((registrationId: string) =>
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
  function toolId(slug: string, parameter: string): number {
    const id = database.value<number>("SELECT tool_id FROM product WHERE slug = ?", slug);
    if (id !== undefined) return id;
    const problem = "there is no product with this slug";
    throw new ServiceError("PRODUCT_NOT_FOUND", `${parameter}: ${problem}.`, {
      details: [{ parameter, problem }],
    });
  }

  return {
    /** @throws ServiceError `PRODUCT_NOT_FOUND` */
    follow: database.transaction((accountId: number, slugs: readonly string[]) => {
      for (const [index, slug] of slugs.entries()) {
        const sql =
          "INSERT OR IGNORE INTO follow (account_id, tool_id, followed_at) VALUES (?, ?, ?)";
        database.run(sql, accountId, toolId(slug, `slugs.${index}`), clock.now());
      }
    }),
    /** @throws ServiceError `PRODUCT_NOT_FOUND` */
    unfollow(accountId: number, slug: string): void {
      const sql = "DELETE FROM follow WHERE account_id = ? AND tool_id = ?";
      database.run(sql, accountId, toolId(slug, "slug"));
    },
    list: (accountId: number): Follow[] =>
      database
        .rows<Follow & { followed_at: number }>(
          `SELECT f.tool_id, p.slug, f.followed_at FROM follow f JOIN product p USING (tool_id)
           WHERE f.account_id = ? ORDER BY p.slug`,
          accountId,
        )
        .map((follow) => ({ ...follow, followed_at: dateTime(follow.followed_at) })),
  };
}
