// What one writes by hand: verify, then one synchronous durable insert before the answer.
import { createHmac, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import express from "express";
import { PATH, SECRET } from "./endpoint.js";
import { serve, serverConfig } from "./serve.js";

const { folder } = serverConfig();
const db = new Database(join(folder, "events.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE events (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL, body BLOB NOT NULL)");
const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?) ON CONFLICT DO NOTHING");

const TOLERANCE_SECONDS = 300;

function isAuthentic(header: string, body: Buffer): boolean {
  const [, timestamp = "", hex = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest();
  const given = Buffer.from(hex, "hex");
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  return given.length === digest.length && timingSafeEqual(given, digest) && age <= TOLERANCE_SECONDS;
}

const app = express();
app.post(PATH, express.raw({ type: "*/*" }), (request, response) => {
  const body = request.body as Buffer;
  if (!isAuthentic(request.get("x-service-signature") ?? "", body)) {
    response.status(401).end();
    return;
  }
  const { id } = JSON.parse(body.toString()) as { id: string };
  const { changes } = insert.run(id, Date.now(), body);
  response.json(changes === 0 ? { received: true, duplicate: true } : { received: true });
});
serve({ listener: app, close: () => void db.close() });
