// Receives one delivery, closes, and must then come to its end without being told to.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceiver } from "signalbox";
import { nodeHandler } from "signalbox/node";
import { memoryStore } from "signalbox/stores/memory";
import { sqliteStore } from "signalbox/stores/sqlite";
import { signalEvent, signedDelivery } from "signalbox/testing";

const folder = mkdtempSync(join(tmpdir(), "signalbox-child-"));
const secrets = "whsec_child";
const lines = [];
const receiver = createReceiver({
  secrets,
  store: process.argv[2] === "sqlite" ? sqliteStore(join(folder, "signals.db")) : memoryStore(),
  onSignal: () => lines.push("handed off"),
  logger: false,
});
await receiver.start();
const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1");
await once(server, "listening");

const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
const { headers, body } = signedDelivery(signalEvent(), { secret: secrets });
const post = request({ port: server.address().port, method: "POST", headers, agent: false }).end(body);
const [response] = await once(post, "response");
const text = Buffer.concat(await response.toArray()).toString();
lines.push(`${response.statusCode} ${text}`);
await handedOff;

server.close();
await receiver.close();
rmSync(folder, { recursive: true });
console.log([...lines.toSorted().toReversed(), "closed"].join("\n"));
