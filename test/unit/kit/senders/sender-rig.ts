import { onTestFinished } from "vitest";
import type { DeliveryResponse, SenderReceiverOptions } from "../../../../src/kit/index.js";
import {
  defineSender,
  type SenderDefinition,
} from "../../../../src/kit/senders/engine/define-sender.js";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import { createManualClock, testReceiver } from "../../../../src/kit/testing/index.js";

/** When all is sent, unless a test says otherwise. */
export const NOW = Date.UTC(2026, 10, 28, 12);

/** A sender of one's own whose body says its id and type. */
export const own = (definition: Partial<SenderDefinition>) =>
  defineSender({
    name: "own",
    read: ({ json }) => ({ id: json.id, type: json.type }),
    ...definition,
  });

export interface Sent {
  method?: string;
  headers: Readonly<Record<string, string | readonly string[]>>;
  body: string | Uint8Array;
  url?: string | undefined;
}

type Options = Partial<SenderReceiverOptions<Record<string, unknown>>> & { now?: number };

/** A started receiver of a sender, which keeps in mind what it tells of each delivery. */
export async function startFor(
  sender: AnySender,
  secrets: string | readonly string[] | (() => string | string[]),
  { now = NOW, ...options }: Options = {},
) {
  const clock = createManualClock(now);
  const { receiver } = await testReceiver({ ...options, sender, secrets, clock } as never);
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  const heard: { name: string; eventId?: string; code?: string }[] = [];
  for (const name of ["accepted", "duplicate", "conflict", "quarantined", "rejected"] as const)
    receiver.on(name, (event) => heard.push({ name, ...event }));
  /** Any request, with its answer. */
  const handle = ({ body, ...sent }: Sent): Promise<DeliveryResponse> =>
    receiver.handle({ method: "POST", ...sent, body: Buffer.from(body) });
  /** A delivery: what the receiver tells of it, or the code of its refusal; else the status. */
  async function send(sent: Sent): Promise<string> {
    heard.length = 0;
    const { status } = await handle(sent);
    return heard.map(({ name, code }) => code ?? name).join() || String(status);
  }
  return { clock, receiver, heard, handle, send };
}
