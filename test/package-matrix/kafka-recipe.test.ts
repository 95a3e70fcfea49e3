import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRecipe } from "../repo/run-recipe.js";
import { run } from "../templates/commands.js";
import { fetchTools } from "../toolchain/fetch-tools.js";
import { COMPILE_QUICKLY } from "../toolchain/workshop.js";

const CLIENT = "@confluentinc/kafka-javascript";

/**
 * The brokers that librdkafka brings for tests. They speak the protocol, in a process of their own.
 */
const BROKERS = `
  const { Producer } = require("${CLIENT}");
  const cluster = new Producer({ "test.mock.num.brokers": 3 });
  cluster.connect({}, () => cluster.getMetadata({}, (error, { brokers }) => {
    if (error) throw error;
    process.stdout.write(JSON.stringify(brokers.map(({ host, port }) => host + ":" + port)));
  }));`;

const [client] = await fetchTools({ [CLIENT]: `npm:${CLIENT}@1.10.1` });
if (client?.ok !== true) {
  test.skip(`Kafka: ${client?.reason ?? ""}`);
} else {
  test("Kafka: a hand-off waits for the brokers, fails when they do not confirm, and a repeat is beside its original", async () => {
    const folder = join(client.folder, "../../..");
    // Its install script would fetch a binary. Linked dynamically, it needs no libraries for TLS
    // and the like to be there.
    const env = { ...COMPILE_QUICKLY, CKJS_LINKING: "dynamic" };
    await run(folder, "npm", ["rebuild", CLIENT], env);
    writeFileSync(join(folder, "brokers.cjs"), BROKERS);
    const script = `
    import { spawn } from "node:child_process";
    import { once } from "node:events";
    import { KafkaJS } from "${CLIENT}";
    const servers = spawn(process.execPath, [import.meta.dirname + "/brokers.cjs"], { stdio: ["ignore", "pipe", "inherit"] });
    process.on("exit", () => servers.kill("SIGKILL")).on("SIGTERM", () => process.exit(1));
    const [addresses] = await once(servers.stdout, "data");
    process.env.BROKERS = addresses;
    const recipe = await loadRecipe();
    await recipe.onSignal(signal, handoff);
    const tooLarge = await outcome(recipe.onSignal(signal, { ...handoff, rawBody: Buffer.alloc(1_000_001) }));
    servers.kill("SIGSTOP");
    const unanswered = await outcome(recipe.onSignal(signal, handoff));
    servers.kill("SIGCONT");
    await recipe.onSignal(signal, { ...handoff, attempt: 2 });
    const other = { ...handoff, deliveryKey: "default/sig_3_4" };
    await recipe.onSignal(signal, other);
    const kafka = new KafkaJS.Kafka({ kafkaJS: { brokers: JSON.parse(addresses) } });
    const consumer = kafka.consumer({ kafkaJS: { groupId: "any", fromBeginning: true } });
    await consumer.connect();
    await consumer.subscribe({ topic: name });
    const partitions = {};
    let whole = true;
    await new Promise((resolve) => {
      consumer.run({ eachMessage: async ({ partition, message: { key, value } }) => {
        (partitions[key] ??= []).push(partition);
        whole &&= value.equals(handoff.rawBody);
        const mine = partitions[handoff.deliveryKey]?.length ?? 0;
        if (mine >= 2 && partitions[other.deliveryKey]) resolve();
      } });
    });
    servers.kill("SIGKILL");
    await once(servers, "exit");
    const unreachable = await outcome(recipe.onSignal(signal, handoff));
    const found = { keys: Object.keys(partitions).sort(), together: new Set(partitions[handoff.deliveryKey]).size === 1, whole, tooLarge, unanswered, unreachable };`;
    const replaced = { '["127.0.0.1:9092"]': "JSON.parse(process.env.BROKERS)", "20_000": "2_000" };
    expect(await runRecipe(folder, "Kafka", script, replaced)).toEqual({
      keys: ["default/sig_1_2", "default/sig_3_4"],
      together: true,
      whole: true,
      tooLarge: "Broker: Message size too large",
      unanswered: "Local: Message timed out",
      unreachable: "Local: Message timed out",
    });
  });
}
