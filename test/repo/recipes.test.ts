import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasServer, testWith } from "../prerequisites.js";
import { fetchTools } from "../toolchain/fetch-tools.js";
import {
  BLOCKS,
  COMPLETED_ONCE,
  completeByRecipe,
  runRecipe as runRecipeIn,
} from "./run-recipe.js";

// Inside the project, so that the recipes find their clients.
const FOLDER = fileURLToPath(new URL("../../node_modules/.signalbox-recipes", import.meta.url));

beforeAll(() => mkdirSync(FOLDER, { recursive: true }));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const runRecipe = (heading: string, script: string): Promise<unknown> =>
  runRecipeIn(FOLDER, heading, `const recipe = await loadRecipe();${script}`);

testWith(await hasServer(6379))(
  "BullMQ: a second hand-off adds no second job, not even when the first is done",
  async () => {
    const script = `
    import { Queue, Worker } from "bullmq";
    const queue = new Queue(name, { connection: { host: "127.0.0.1", port: 6379 } });
    await recipe.onSignal(signal, handoff);
    await recipe.onSignal(signal, handoff);
    const { waiting } = await queue.getJobCounts();
    const worker = new Worker(name, async () => undefined, { connection: { host: "127.0.0.1", port: 6379 } });
    await new Promise((resolve) => worker.once("completed", resolve));
    await recipe.onSignal(signal, handoff);
    const counts = await queue.getJobCounts();
    await worker.close();
    await queue.obliterate({ force: true });
    const found = { waiting, after: counts.waiting, completed: counts.completed };`;
    expect(await runRecipe("BullMQ", script)).toEqual({ waiting: 1, after: 0, completed: 1 });
  },
);

testWith(await hasServer(5432))(
  "pg-boss: a second hand-off adds no second job, and a missing queue is noticed",
  async () => {
    const script = `
    import * as module from "pg-boss";
    const PgBoss = module.PgBoss ?? module.default;
    const boss = new PgBoss({ connectionString: "postgres://postgres@127.0.0.1:5432/test", schema: name });
    boss.on("error", () => {});
    await boss.start();
    const onSignal = recipe.handOffTo(boss);
    const withoutQueue = await outcome(onSignal(signal, handoff));
    await boss.createQueue(name);
    await onSignal(signal, handoff);
    await onSignal(signal, handoff);
    const jobs = await boss.fetch(name, { batchSize: 10 });
    await boss.complete(name, jobs[0].id);
    await onSignal(signal, handoff);
    const again = await boss.fetch(name, { batchSize: 10 });
    await boss.getDb().executeSql('DROP SCHEMA "' + name + '" CASCADE');
    const found = { withoutQueue: withoutQueue !== "resolved", jobs: jobs.length, again: again.length };`;
    expect(await runRecipe("pg-boss", script)).toEqual({ withoutQueue: true, jobs: 1, again: 0 });
  },
);

testWith(await hasServer(5672))(
  "RabbitMQ: a hand-off is confirmed, carries its key, and fails when no queue takes it",
  async () => {
    const script = `
    import amqp from "amqplib";
    await recipe.onSignal(signal, handoff);
    const connection = await amqp.connect("amqp://127.0.0.1");
    const channel = await connection.createChannel();
    const message = await channel.get(name, { noAck: true });
    await channel.deleteQueue(name);
    const withoutQueue = await outcome(recipe.onSignal(signal, handoff));
    const { messageId, deliveryMode } = message.properties;
    const found = { messageId, deliveryMode, withoutQueue };`;
    expect(await runRecipe("RabbitMQ", script)).toEqual({
      messageId: "default/sig_1_2",
      deliveryMode: 2,
      withoutQueue: "no queue took the message",
    });
  },
);

testWith(await hasServer(4222))(
  "NATS JetStream: a second hand-off is recognised, within a window of four days",
  async () => {
    const script = `
    import { jetstreamManager } from "@nats-io/jetstream";
    import { connect } from "@nats-io/transport-node";
    const connection = await connect({ servers: "nats://127.0.0.1:4222" });
    const manager = await jetstreamManager(connection);
    await recipe.onSignal(signal, handoff);
    await recipe.onSignal(signal, handoff);
    const { state, config } = await manager.streams.info(name);
    await manager.streams.delete(name);
    const withoutStream = await outcome(recipe.onSignal(signal, handoff));
    const found = {
      messages: state.messages,
      days: config.duplicate_window / 86400e9,
      withoutStream: withoutStream !== "resolved",
    };`;
    expect(await runRecipe("NATS JetStream", script)).toEqual({
      messages: 1,
      days: 4,
      withoutStream: true,
    });
  },
);

testWith(await hasServer(5432))(
  "One effect for each signal: two consumers at once have one effect, and a failure none",
  async () => {
    const schema = BLOCKS.find(({ language }) => language === "sql")?.code ?? "";
    const script = `
    import pg from "pg";
    const admin = new pg.Client("postgres://postgres@127.0.0.1:5432/test");
    await admin.connect();
    await admin.query("CREATE SCHEMA " + name);
    const pool = new pg.Pool({ connectionString: "postgres://postgres@127.0.0.1:5432/test", options: "-c search_path=" + name });
    await pool.query(${JSON.stringify(schema)});
    const failed = await outcome(recipe.handleOnce(pool, handoff.deliveryKey, signal));
    await pool.query("CREATE TABLE price_alert (product text, text text)");
    await Promise.all([1, 2, 3, 4].map(() => recipe.handleOnce(pool, handoff.deliveryKey, signal)));
    const { rows } = await pool.query("SELECT count(*)::int AS effects FROM price_alert");
    await admin.query("DROP SCHEMA " + name + " CASCADE");
    const found = { failed: failed !== "resolved", effects: rows[0].effects };`;
    expect(await runRecipe("One effect for each signal", script)).toEqual({
      failed: true,
      effects: 1,
    });
  },
);

// An SQS that speaks its protocol. The client is among what it depends on.
const [sqs] = await fetchTools({ fauxqs: "npm:fauxqs@1.9.2" });
if (sqs?.ok !== true) {
  test.skip(`Amazon SQS: ${sqs?.reason ?? ""}`);
} else {
  test("Amazon SQS: a repeat within the window adds no message, and without a confirmation the hand-off fails", async () => {
    const script = `
    import { createServer } from "node:net";
    import { interceptLocalhostDns, startFauxqs } from "fauxqs";
    const { env } = process;
    Object.assign(env, { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "any", AWS_SECRET_ACCESS_KEY: "any" });
    const server = await startFauxqs({ port: 0, logger: false });
    interceptLocalhostDns();
    env.QUEUE_URL = server.createQueue("signals.fifo", { attributes: { FifoQueue: "true" } }).queueUrl;
    const recipe = await loadRecipe();
    await recipe.onSignal(signal, { ...handoff, attempt: 1 });
    await recipe.onSignal(signal, { ...handoff, attempt: 2 });
    const longKey = "größe ".repeat(40) + "/sig_1_2";
    await recipe.onSignal(signal, { ...handoff, deliveryKey: longKey });
    const { ready } = server.inspectQueue("signals.fifo").messages;
    const large = { ...signal, data: { ...signal.data, title: "t".repeat(1024 * 1024) } };
    const tooLarge = await outcome(recipe.onSignal(large, { ...handoff, deliveryKey: "default/large" }));
    const { port } = server;
    await server.stop();
    const unreachable = await outcome(recipe.onSignal(signal, handoff));
    const silent = createServer();
    await new Promise((resolve) => silent.listen(port, "127.0.0.1", resolve));
    const abort = new AbortController();
    silent.once("connection", () => abort.abort());
    const unanswered = await outcome(recipe.onSignal(signal, { ...handoff, abortSignal: abort.signal }));
    const messages = ready.map(({ body, messageGroupId, messageDeduplicationId }) => {
      const { deliveryKey, signal } = JSON.parse(body);
      const fits = /^[0-9a-z]{1,128}$/.test(messageDeduplicationId);
      return { key: deliveryKey, id: signal.id, group: messageGroupId, fits };
    });
    const found = { messages, tooLarge, unreachable, unanswered };`;
    const replaced = {
      '"https://sqs.eu-central-1.amazonaws.com/123456789012/signals.fifo"': "process.env.QUEUE_URL",
    };
    const found = await runRecipeIn(join(sqs.folder, "../.."), "Amazon SQS", script, replaced);
    const message = { id: "sig_1_2", group: "2", fits: true };
    expect(found).toEqual({
      messages: [
        { ...message, key: "default/sig_1_2" },
        { ...message, key: expect.stringMatching(/^größe .*\/sig_1_2$/) as unknown },
      ],
      tooLarge: expect.stringContaining("must be shorter than 1048576 bytes") as unknown,
      unreachable: expect.stringContaining("ECONNREFUSED") as unknown,
      unanswered: "Request aborted",
    });
  });
}

const DATABASES = {
  pg: "const db = pool;",
  "postgres.js": `import postgres from "postgres"; const db = postgres(url, { onnotice: () => {} });`,
  Drizzle: `import { drizzle } from "drizzle-orm/node-postgres"; const db = drizzle(url);`,
  Kysely: `import { Kysely, PostgresDialect } from "kysely"; const db = new Kysely({ dialect: new PostgresDialect({ pool }) });`,
  Knex: `import knex from "knex"; const db = knex({ client: "pg", connection: url });`,
};

for (const [heading, makeDb] of Object.entries(DATABASES)) {
  testWith(await hasServer(5432))(
    `${heading}: completes the event with its effect, and has none when it was taken over`,
    async () => {
      expect(await completeByRecipe(heading, makeDb, FOLDER)).toEqual(COMPLETED_ONCE);
    },
  );
}
