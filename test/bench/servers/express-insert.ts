// What one writes by hand: verify, then one synchronous durable insert before the answer.
import { join } from "node:path";
import Database from "better-sqlite3";
import express from "express";
import { PATH } from "./endpoint.js";
import { isAuthentic } from "../verification/is-authentic.js";
import { serve, serverConfig } from "./serve.js";

const { folder } = serverConfig();
const db = new Database(join(folder, "events.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec(
  "CREATE TABLE events (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL, body BLOB NOT NULL)",
);
const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?) ON CONFLICT DO NOTHING");

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
