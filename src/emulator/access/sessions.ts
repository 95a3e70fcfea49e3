import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { EmulatorCore } from "../instance/core.js";
import { readSetting, writeSetting } from "../database/settings.js";

const PREFIX = "sbs_";
const SECRET = "session_secret";

/** Whether a token is a session token, not an API key. */
export const isSessionToken = (token: string): boolean => token.startsWith(PREFIX);

const claimsSchema = z.strictObject({ session: z.string(), account: z.int(), expiresAt: z.int() });

/** Makes and checks the signed session tokens of the website (service document, Authentication 3). They are not stored. */
export function createSessions({ database, clock, random }: Pick<EmulatorCore, "database" | "clock" | "random">) {
  const secret = readSetting(database, SECRET) ?? random.bytes(32).toString("hex");
  writeSetting(database, SECRET, secret);
  const sign = (claims: string): string => createHmac("sha256", secret).update(claims).digest("base64url");

  return {
    create(accountId: number, lifetimeSeconds: number) {
      const expiresAt = clock.now() + lifetimeSeconds * 1000;
      const session = random.bytes(12).toString("hex");
      const claims = Buffer.from(JSON.stringify({ session, account: accountId, expiresAt })).toString("base64url");
      const token = `${PREFIX}${claims}.${sign(claims)}`;
      return { token, expires_at: new Date(expiresAt).toISOString() };
    },
    /** Returns null when the token has expired or was not signed with this database's secret. */
    find(token: string) {
      const [claims = "", signature = "", ...rest] = token.slice(PREFIX.length).split(".");
      const given = Buffer.from(signature);
      const expected = Buffer.from(sign(claims));
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      const { session, account, expiresAt } = claimsSchema.parse(
        JSON.parse(Buffer.from(claims, "base64url").toString("utf8")),
      );
      return clock.now() < expiresAt ? { sessionId: session, accountId: account } : null;
    },
  };
}
