import { once } from "node:events";
import { createServer } from "node:http";
import type { Logger } from "pino";
import type { Receiver } from "signalbox";
import { inboxPage } from "signalbox/inbox-page";

/**
 * Serves the inbox page for `npm run dev`, to browsers on this machine. It has a port of its own,
 * so that a tunnel to the receiver does not lead to it.
 */
export async function startDev(receiver: Receiver, port: number, logger: Logger): Promise<void> {
  const server = createServer(inboxPage(receiver, { authorize: "loopback" }));
  await once(server.listen(port + 1, "127.0.0.1"), "listening").then(
    () => logger.info(`its inbox in a browser: http://127.0.0.1:${port + 1}/`),
    (error: unknown) => logger.warn(`no inbox page: ${String(error)}`),
  );
  logger.info("send a sample: npm run send -- {{sampleType}}");
  // if forward
  logger.info(`get real events: {{forwardToPort}}`);
  // end forward
  // if stripe
  logger.info("put the secret that `stripe listen` prints into .env, and start this again");
  // end stripe
  // if elsewhere
  logger.info("get real events: add https://YOUR.TUNNEL/webhooks/{{sender}} at {{page}}");
  // end elsewhere
}
