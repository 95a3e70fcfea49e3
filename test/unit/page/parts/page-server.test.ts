import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createLiveStreams } from "../../../../src/page/parts/page-server.js";

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
