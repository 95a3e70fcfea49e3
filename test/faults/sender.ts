import { Agent, request } from "node:http";
import type { ReceiverHealth, SignalEvent } from "../../src/kit/index.js";
import { signalEvent, signedDelivery } from "../../src/kit/testing/index.js";

export const SECRET = "whsec_faults";

export interface Answer {
  status: number;
  body: string;
}

/** One connection a delivery at most, kept alive. */
const agent = new Agent({ keepAlive: true });

/**
 * A delivery as the service sends it. Rejects when the receiver goes away before its answer is
 * complete.
 *
 * @param how `now`: the receiver's clock; `timeoutMs`: for the whole answer
 */
export function send(
  port: number,
  event: object,
  {
    secret = SECRET,
    now = Date.now(),
    timeoutMs,
  }: { secret?: string; now?: number; timeoutMs?: number } = {},
): Promise<Answer> {
  const { headers, body } = signedDelivery(event, { secret, now });
  return new Promise((resolve, reject) => {
    const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const options = { port, host: "127.0.0.1", method: "POST", path: "/", headers, agent, signal };
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** What the child's `receiver.health()` says. */
export async function healthOf(port: number): Promise<ReceiverHealth> {
  return (await (await fetch(`http://127.0.0.1:${port}`)).json()) as ReceiverHealth;
}

/** What the callback of `children/receiver.mjs` is to do with it. */
export type Fate = "fine" | "slow" | "waits" | "hangs" | "exits";

let lastId = 0;

/** An event with an id of its own. */
export function eventThat(fate: Fate, id = `sig_${fate}_${++lastId}`, data = {}): SignalEvent {
  return signalEvent({ id, data: { ...data, title: fate } });
}

export function isAcknowledged({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/**
 * Sends new events, `connections` at a time, until the receiver refuses or goes away.
 *
 * @param onAcknowledged called with each id when its 2xx arrives
 */
export async function sendUntilRefused(
  port: number,
  connections: number,
  fateOf: () => Fate,
  onAcknowledged: (id: string) => void,
): Promise<void> {
  async function sendOneAfterAnother(): Promise<void> {
    for (;;) {
      const event = eventThat(fateOf());
      const answer = await send(port, event).catch(() => null);
      if (answer === null || !isAcknowledged(answer)) return;
      onAcknowledged(event.id);
    }
  }
  await Promise.all(Array.from({ length: connections }, sendOneAfterAnother));
}
