import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, expect } from "vitest";
import { hasServer, testWith } from "../prerequisites.js";
import { readDocument } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// Inside the project, so that the recipes find their clients.
const FOLDER = `${ROOT}node_modules/.signalbox-recipes`;
const BLOCKS = ["docs/recipes.md", "docs/idempotent-effects.md"].flatMap((path) => readDocument(path).blocks);

beforeAll(() => mkdirSync(FOLDER, { recursive: true }));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/**
 * Runs the recipe under a heading in a process of its own, since recipes keep their connections, and calls what
 * `script` does with it. The names of queues and streams get a suffix, so that nothing else on the broker is touched.
 */
async function runRecipe(heading: string, script: string): Promise<unknown> {
  const block = BLOCKS.find((each) => each.heading === heading && each.language === "ts");
  if (block === undefined) throw new Error(`there is no recipe for ${heading}`);
  const name = `probe_${process.pid}`;
  const renamed = block.code.replaceAll('"signals"', `"${name}"`).replaceAll('"SIGNALS"', `"${name}"`);
  const code = renamed.replaceAll("signals.>", `${name}.>`).replaceAll("`signals.$", `\`${name}.$`);
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
  });
  const file = `${FOLDER}/${heading.replaceAll(/\W/g, "-")}`;
  writeFileSync(`${file}.recipe.mjs`, outputText);
  const source = `
    import * as recipe from "${file}.recipe.mjs";
    const name = ${JSON.stringify(name)};
    const signal = { id: "sig_1_2", data: { signal_type: "traffic_breakout", title: "t", product: { id: 2, slug: "acme" } } };
    const handoff = { deliveryKey: "default/sig_1_2", rawBody: Buffer.from(JSON.stringify(signal)) };
    const outcome = (promise) => promise.then(() => "resolved", (error) => error.message);
    ${script}
    process.stdout.write(JSON.stringify(found), () => process.exit());`;
  writeFileSync(`${file}.mjs`, source);
  const { stdout } = await promisify(execFile)(process.execPath, [`${file}.mjs`], { timeout: 15_000 });
  return JSON.parse(stdout);
}

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
    expect(await runRecipe("NATS JetStream", script)).toEqual({ messages: 1, days: 4, withoutStream: true });
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
    expect(await runRecipe("One effect for each signal", script)).toEqual({ failed: true, effects: 1 });
  },
);
