import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import { makePool, POSTGRES_URL, quotedName } from "./postgres-medium.js";

/** Makes an empty database for one test. @returns its URL */
export async function ownDatabase(): Promise<string> {
  const database = `signalbox_${randomUUID()}`;
  const admin = makePool(1);
  await admin.query(`CREATE DATABASE ${quotedName(database)}`);
  onTestFinished(async () => {
    await admin.query(`DROP DATABASE ${quotedName(database)} WITH (FORCE)`);
    await admin.end();
  });
  return POSTGRES_URL.replace(/\/test$/, `/${database}`);
}
