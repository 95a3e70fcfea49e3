export interface Server {
  name: string;
  /** As it stands in a table. */
  label: string;
  /** Where it stores acknowledged events: in a file, or in PostgreSQL; null: nowhere. */
  keeps: { file?: string; table: string } | null;
  isOurs: boolean;
}

const INBOX = { file: "inbox.db", table: "inbox" };

/** In the order of the table. The script of each is `servers/<name>.js`. */
export const SERVERS: readonly Server[] = [
  { name: "node-nothing", label: "node:http, does nothing", keeps: null, isOurs: false },
  { name: "node-verified", label: "node:http, verifies and parses", keeps: null, isOurs: false },
  { name: "signalbox-node", label: "signalbox on node:http", keeps: INBOX, isOurs: true },
  { name: "express-nothing", label: "Express 5, does nothing", keeps: null, isOurs: false },
  { name: "signalbox-express5", label: "signalbox on Express 5", keeps: INBOX, isOurs: true },
  { name: "signalbox-express4", label: "signalbox on Express 4", keeps: INBOX, isOurs: true },
  { name: "express-stripe", label: "Express 5, stripe and a Set", keeps: null, isOurs: false },
  { name: "express-octokit", label: "Express 5, @octokit/webhooks", keeps: null, isOurs: false },
  {
    name: "express-insert",
    label: "Express 5, one durable insert each",
    keeps: { file: "events.db", table: "events" },
    isOurs: false,
  },
];

/** Those that only the part `postgres` can run. */
const ON_POSTGRES: readonly Server[] = [
  {
    name: "signalbox-postgres",
    label: "signalbox on Express 5, postgresStore",
    keeps: { table: "signalbox.inbox" },
    isOurs: true,
  },
  {
    name: "express-pg-insert",
    label: "Express 5, one INSERT each, a pool of 10",
    keeps: { table: "events" },
    isOurs: false,
  },
];

/**
 * Only for who names them: Fastify and Hono, each beside itself, and what telemetry costs beside
 * `signalbox-express5`.
 */
const BY_NAME: readonly Server[] = [
  { name: "fastify-nothing", label: "Fastify 5, does nothing", keeps: null, isOurs: false },
  { name: "signalbox-fastify", label: "signalbox on Fastify 5", keeps: INBOX, isOurs: true },
  { name: "hono-nothing", label: "Hono on Node, does nothing", keeps: null, isOurs: false },
  { name: "signalbox-hono", label: "signalbox on Hono on Node", keeps: INBOX, isOurs: true },
  {
    name: "signalbox-traced",
    label: "signalbox on Express 5, all traced",
    keeps: INBOX,
    isOurs: true,
  },
  {
    name: "signalbox-sampled",
    label: "signalbox on Express 5, 5 % traced",
    keeps: INBOX,
    isOurs: true,
  },
];

/**
 * The server that the others are compared with: Express that does nothing if it runs, else the
 * first.
 */
export function findBaseline(servers: readonly Server[]): Server {
  const baseline = servers.find(({ name }) => name === "express-nothing") ?? servers[0];
  if (baseline === undefined) throw new Error("no servers to compare");
  return baseline;
}

/** @throws Error when no server has this name */
export function serverNamed(name: string): Server {
  const server = [...SERVERS, ...ON_POSTGRES, ...BY_NAME].find((each) => each.name === name);
  if (server === undefined) throw new Error(`There is no server ${name}.`);
  return server;
}
