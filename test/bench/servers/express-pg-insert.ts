// What one writes by hand: verify, then one INSERT through a pool before the answer.
import express from "express";
import { Pool } from "pg";
import { POOL_SIZE } from "../postgres/pool-size.js";
import { PATH } from "./endpoint.js";
import { isAuthentic } from "../verification/is-authentic.js";
import { serve, serverConfig } from "./serve.js";

const pool = new Pool({ connectionString: serverConfig().database, max: POOL_SIZE });
await pool.query(
  "CREATE TABLE events (id text PRIMARY KEY, at timestamptz DEFAULT now(), body bytea)",
);

const app = express();
app.post(PATH, express.raw({ type: "*/*" }), (request, response) => {
  const body = request.body as Buffer;
  if (!isAuthentic(request.get("x-service-signature") ?? "", body)) {
    response.status(401).end();
    return;
  }
  const { id } = JSON.parse(body.toString()) as { id: string };
  const insert = "INSERT INTO events (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
  pool.query(insert, [id, body]).then(
    ({ rowCount }) =>
      response.json(rowCount === 0 ? { received: true, duplicate: true } : { received: true }),
    () => response.status(500).end(),
  );
});
serve({ listener: app, close: () => pool.end() });
