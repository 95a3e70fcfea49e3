import { once } from "node:events";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { turns } from "../../unit/until.js";
import { delivery, startReceiver } from "../serve.js";

test("over HTTP/2 a refused body ends its own stream, without a header that Node warns of", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  const listener = nodeHandler(await startReceiver({ bodyLimitBytes: 2000 }));
  // Node gives its requests of HTTP/2 the interface of those of HTTP/1.
  const server = createServer(listener as unknown as Parameters<typeof createServer>[1]);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    process.off("warning", onWarning);
    session.destroy();
    server.close();
  });

  const begin = (headers: Record<string, string>, body: Uint8Array) => {
    const stream = session.request({ ":method": "POST", ...headers });
    stream.write(body);
    return stream;
  };
  const large = begin({}, Buffer.alloc(2001));
  expect((await once(large, "response"))[0]).toMatchObject({ ":status": 413 });
  const { headers, body } = delivery();
  const next = begin(headers, body).end();
  expect((await once(next, "response"))[0]).toMatchObject({ ":status": 200 });
  await turns(2);
  expect(warnings).toEqual([]);
});
