import { onTestFinished, vi } from "vitest";
import { createReceiver, type InboxStore, type Receiver } from "../../src/kit/index.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { SIGNAL_TYPES } from "../../src/kit/senders/signals/signal-types.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import {
  createEmulator,
  type Emulator,
} from "../../src/service/emulator/instance/create-emulator.js";
import { listen } from "../cli/serve-requests.js";
import { usualDatabase } from "./start-emulator.js";

export interface Traced {
  emulator: Emulator;
  receiver: Receiver;
  eventId: string;
  /** Publishes another signal, which is taken at the first attempt. @returns its id */
  publish: () => Promise<string>;
}

const WAIT = { timeout: 30_000 };

/**
 * An event whose first two deliveries got 503, and whose first hand-off failed. By the machine's
 * clock.
 */
export async function traceAnEvent({
  store = memoryStore(),
  error = "the queue is down",
  retrySeconds = "0.05,0.05",
}: { store?: InboxStore; error?: string; retrySeconds?: string } = {}): Promise<Traced> {
  const secrets: string[] = [];
  let refusals = 0;
  let failures = 0;
  const receiver = createReceiver({
    secrets: () => secrets,
    store,
    onSignal() {
      if (failures-- > 0) throw new Error(error);
    },
    handoff: { backoff: () => 100 },
    logger: false,
  });
  await receiver.start();
  const handle = nodeHandler(receiver);
  const url = await listen((request, response) => {
    if (refusals-- > 0)
      response.writeHead(503).end('{"error":{"code":"busy","message":"The database is locked."}}');
    else handle(request, response);
  });
  const emulator = createEmulator({
    port: 0,
    db: await usualDatabase(),
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine", retrySeconds },
    inboxPage: inboxPage(receiver, { authorize: "loopback" }),
  });
  await emulator.start();
  onTestFinished(async () => {
    await emulator.close();
    await receiver.close({ graceMs: 0 });
  });
  const { control } = emulator;
  const { account_id } = await control.createAccount({ tier: "pro" });
  const { key } = await control.createKey({ account_id });
  const get = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    return (await fetch(`${emulator.baseUrl}${path}`, { ...init, headers })).json();
  };
  const { items } = (await get("/research/rankings?sort=traffic&limit=1")) as {
    items: { slug: string }[];
  };
  const slug = items[0]?.slug ?? "";
  await control.follow({ account_id, slugs: [slug] });
  const [signal_type] = SIGNAL_TYPES;
  const body = JSON.stringify({ url, signal_types: [signal_type] });
  const registered = (await get("/alerts/webhooks", { method: "POST", body })) as {
    signing_secret: string;
  };
  secrets.push(registered.signing_secret);
  await vi.waitUntil(
    async () => (await control.listRegistrations()).items.some(({ status }) => status === "active"),
    WAIT,
  );

  async function publish(): Promise<string> {
    const { event_id } = await control.publishSignal({ signal_type, slug });
    await vi.waitUntil(async () => (await receiver.inbox.get(event_id))?.state === "done", WAIT);
    return event_id;
  }
  refusals = 2;
  failures = 1;
  return { emulator, receiver, eventId: await publish(), publish };
}
