import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SIGNAL_TYPES, type SignalType } from "signalbox";
import { signalEvent } from "signalbox/testing";
import { expect, onTestFinished, test } from "vitest";
import { alertOf, handleSignal, type Alert } from "../src/handle-signal.js";

const signalOf = (type: SignalType) => signalEvent({ data: { signal_type: type } });
const CONTEXT = { deliveryKey: "default/sig_1_2", abortSignal: AbortSignal.timeout(60_000) };

test("every type has a team that gets its alert, an unknown type too", () => {
  for (const type of [...SIGNAL_TYPES, "a_type_to_come"]) expect(alertOf(signalOf(type)).text).not.toBe("");
  expect(alertOf(signalOf("price_increased")).team).toBe("pricing");
  expect(alertOf(signalOf("a_type_to_come")).team).toBe("everyone");
});

test("without an address an alert is logged", async () => {
  const logged: Alert[] = [];
  const signal = signalOf("product_launch");
  await handleSignal(signal, CONTEXT, { url: undefined, log: (alert) => logged.push(alert) });
  expect(logged).toEqual([alertOf(signal)]);
});

/** Another system, which answers with this status. */
async function alertsThatAnswer(status: number): Promise<{ url: string; got: IncomingHttpHeaders[] }> {
  const got: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    got.push(request.headers);
    // Whatever is asked for elsewhere is there.
    const isElsewhere = request.url === "/elsewhere";
    const headers = { Connection: "close", Location: "/elsewhere" };
    request.resume().on("end", () => response.writeHead(isElsewhere ? 200 : status, headers).end());
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, got };
}

const post = (url: string): Promise<void> =>
  handleSignal(signalOf("price_increased"), CONTEXT, { url, log: () => expect.unreachable() });

test("an alert carries the delivery key, so that the other side recognises a repeat", async () => {
  const { url, got } = await alertsThatAnswer(202);
  await post(url);
  expect(got).toMatchObject([{ "idempotency-key": CONTEXT.deliveryKey }]);
});

test.each([
  [429, { code: "retry_later" }],
  [422, { code: "permanent_failure" }],
  [500, { message: "alerts answered 500" }],
  // A POST that follows it becomes a GET, which is answered 200 without the alert.
  [302, { message: "alerts answered 302" }],
])("an answer of %i is a failure of its own kind", async (status, failure) => {
  const { url } = await alertsThatAnswer(status);
  await expect(post(url)).rejects.toMatchObject(failure);
});
