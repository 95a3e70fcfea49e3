import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createLiveStreams, takesGzip } from "../../../../src/page/parts/page-server.js";

test("gzip is sent to clients that take it", () => {
  const taken = ["gzip", "br, GZIP;q=0.5", "gzip;q=0.01", "gzip; q=1, br;q=0"].map(takesGzip);
  const refused = ["gzip;q=0", "gzip; q=0.000, br", "br", "", undefined].map(takesGzip);
  expect([new Set(taken), new Set(refused)]).toEqual([new Set([true]), new Set([false])]);
});

test.each(["gzip", "identity"])(
  "a message that comes while a stream ends is dropped, and nothing is thrown: %s",
  async (encoding) => {
    const streams = createLiveStreams(
      0,
      () => undefined,
      () => undefined,
    );
    let response: ServerResponse | undefined;
    const server = createServer((_request, opened) => {
      response = opened;
      streams.open(opened, {}, "hello\n");
    }).listen(0);
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const [reader] = await once(
      get({ port, headers: { "Accept-Encoding": encoding } }),
      "response",
    );
    reader.resume();
    streams.end(response as ServerResponse);
    streams.write((seen) => ({ text: "late\n", seen }));
    // An error of a stream without a listener would end the process, and the test's run.
    await once(reader, "end");
    expect(streams.size).toBe(0);
  },
);
