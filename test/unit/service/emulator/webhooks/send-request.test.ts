import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
  createRequestSender,
  type RequestOutcome,
  type RequestFailure,
  type ResolveName,
} from "../../../../../src/service/emulator/webhooks/transport/send-request.js";
import { serveRecorder } from "../../../../cli/serve-requests.js";
import { until } from "../../../until.js";
import { selfSigned } from "./self-signed.js";
import { serveSilence } from "./webhook-world.js";

const BODY = Buffer.from('{"id":"evt_1"}');
const HEADERS = {
  "Content-Type": "application/json",
  "Content-Length": "14",
  "X-Service-Signature": "t=1,v1=ab",
};

function sender(
  options: {
    resolve?: ResolveName;
    ca?: string;
    timeoutMs?: number;
    allowLoopbackHttp?: boolean;
    signal?: AbortSignal;
  } = {},
) {
  const {
    timeoutMs = 10_000,
    allowLoopbackHttp = true,
    signal = new AbortController().signal,
    ...rest
  } = options;
  const send = createRequestSender({
    assumptions: { deliveryTimeoutMs: timeoutMs, allowLoopbackHttp },
    ...rest,
  });
  return (url: string): Promise<RequestOutcome> =>
    send({ url, headers: HEADERS, body: BODY }, signal);
}

/** @returns its port; the server and its connections end with the test */
async function listen(server: TcpServer | Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(listener))}/hook`;

/** A server that says these bytes to whoever connects. */
const serveBytes = async (onSocket: (socket: Socket) => void): Promise<string> =>
  `http://127.0.0.1:${await listen(createTcpServer((socket) => onSocket(socket.on("error", () => undefined))))}/hook`;

test("a request is a POST with these headers and bytes, and the answer comes back", async () => {
  const { url, requests } = await serveRecorder((_request, response) => {
    response.writeHead(202, { "X-Trace": "abc", "Set-Cookie": ["a=1", "b=2"] }).end("taken");
  });
  const outcome = await sender()(`${url}?a=b`);
  expect(outcome).toMatchObject({
    status: 202,
    headers: { "x-trace": "abc", "set-cookie": "a=1,b=2" },
    body: Buffer.from("taken"),
  });
  const [request] = requests;
  expect(request).toMatchObject({ method: "POST", body: BODY });
  const { rawHeaders = [] } = request ?? {};
  expect(rawHeaders.slice(0, 6)).toEqual(Object.entries(HEADERS).flat());
  expect(rawHeaders).not.toContain("Transfer-Encoding");
});

test("a redirect is an answer, and is not followed", async () => {
  const { url, requests } = await serveRecorder((_request, response) => {
    response.writeHead(307, { Location: "/elsewhere" }).end();
  });
  expect(await sender()(url)).toMatchObject({ status: 307 });
  expect(requests).toHaveLength(1);
});

test("of a long answer only the beginning is read", async () => {
  let wanted = 0;
  const url = await serve((_request, response) => {
    response.on("close", () => (wanted = -1));
    const more = (): void => {
      wanted++;
      if (response.write(Buffer.alloc(65_536, "x"))) setImmediate(more);
      else response.once("drain", more);
    };
    more();
  });
  const outcome = await sender()(url);
  expect(outcome).toMatchObject({ status: 200 });
  expect("body" in outcome && outcome.body.byteLength).toBe(16_384);
  await until(() => wanted === -1);
}, 15_000);

const SLOW: readonly (readonly [what: string, onSocket: (socket: Socket) => void])[] = [
  ["says nothing", () => undefined],
  ["stops in its headers", (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-")],
  [
    "stops in its body",
    (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
  ],
  [
    "dribbles",
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 1);
      socket.on("close", () => clearInterval(timer));
    },
  ],
];

test.each(SLOW)(
  "a receiver that %s is given up after the time-out, and its connection closed",
  async (_what, onSocket) => {
    let isClosed = false;
    const url = await serveBytes((socket) => {
      socket.resume().on("close", () => (isClosed = true));
      onSocket(socket);
    });
    expect(await sender({ timeoutMs: 200 })(url)).toEqual({ failure: "timed_out" });
    await until(() => isClosed);
  },
  15_000,
);

test("the look-up of a name is part of the time", async () => {
  const send = sender({ timeoutMs: 100, resolve: () => new Promise(() => undefined) });
  expect(await send("https://hooks.example/")).toEqual({ failure: "timed_out" });
}, 15_000);

/** Says this, or ends so, when the first bytes arrive. */
const says =
  (what: (socket: Socket) => unknown) =>
  (socket: Socket): void =>
    void socket.once("data", () => what(socket));

const BROKEN: readonly (readonly [
  what: string,
  onSocket: (socket: Socket) => void,
  failure: RequestFailure,
])[] = [
  ["reset", says((socket) => socket.resetAndDestroy()), "connection_reset"],
  ["closed", says((socket) => socket.end()), "connection_reset"],
  [
    "cut in the body",
    says((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")),
    "connection_reset",
  ],
  ["no HTTP", says((socket) => socket.end("Hello\r\n\r\n")), "answer_unreadable"],
  [
    "of another protocol",
    says((socket) =>
      socket.write("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
    ),
    "answer_unreadable",
  ],
  [
    "of endless headers",
    says((socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(99_999)}`)),
    "answer_unreadable",
  ],
];

test.each(BROKEN)("an answer that is %s is none", async (_what, onSocket, failure) => {
  expect(await sender()(await serveBytes(onSocket))).toEqual({ failure });
});

test("a port without a server refuses", async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
  await new Promise((resolve) => server.close(resolve));
  expect(await sender()(`http://127.0.0.1:${port}/`)).toEqual({ failure: "connection_refused" });
});

test("a name that leads nowhere is told", async () => {
  const resolve: ResolveName = () =>
    Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }));
  expect(await sender({ resolve })("https://hooks.example/")).toEqual({
    failure: "name_unresolved",
  });
});

// `address-kind.test.ts` has the addresses.
test.each([["127.0.0.1"], ["fe80::1%eth0"], ["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"]])(
  "a name that leads to an address that is not public is not called: %s %s",
  async (...addresses) => {
    const { url, requests } = await serveRecorder();
    const { port } = new URL(url);
    const resolve: ResolveName = () => Promise.resolve(addresses);
    const send = sender({ resolve, allowLoopbackHttp: false });
    expect(await send(`https://hooks.example:${port}/`)).toEqual({ failure: "address_refused" });
    expect(requests).toEqual([]);
  },
);

test.each([["10.0.0.1"], ["127.0.0.1", "8.8.8.8"]])(
  "with the switch, plain HTTP goes to names of loopback alone: not to %s %s",
  async (...addresses) => {
    const resolve: ResolveName = () => Promise.resolve(addresses);
    expect(await sender({ resolve })("http://hooks.example/")).toEqual({
      failure: "address_refused",
    });
  },
);

test("without the switch no address of this machine is called, though it stands in a registration", async () => {
  const { url, requests } = await serveRecorder();
  const send = sender({ allowLoopbackHttp: false });
  const secure = url.replace("http:", "https:");
  for (const address of [url, secure, secure.replace("127.0.0.1", "localhost")]) {
    expect(await send(address)).toEqual({ failure: "address_refused" });
  }
  expect(requests).toEqual([]);
});

test("the address that was looked at is the one that is called, whatever the name becomes", async () => {
  const { url, requests } = await serveRecorder();
  const { port } = new URL(url);
  const asked: string[] = [];
  // The first answer may be called, and leads to our server; every later one may not.
  const resolve: ResolveName = (name) => {
    asked.push(name);
    return Promise.resolve(asked.length === 1 ? ["127.0.0.1"] : ["10.0.0.1"]);
  };
  const send = sender({ resolve });
  expect(await send(`http://rebound.example:${port}/`)).toMatchObject({ status: 200 });
  expect(requests).toHaveLength(1);
  expect(asked).toEqual(["rebound.example"]);
});

test("certificates are verified, and the names in them", async () => {
  const { key, cert } = selfSigned("hooks.example");
  const seen: string[] = [];
  const server = createTlsServer({ key, cert }, (request, response) => {
    seen.push(request.headers.host ?? "");
    response.end("taken");
  });
  const port = await listen(server);
  const resolve: ResolveName = () => Promise.resolve(["127.0.0.1"]);
  expect(await sender({ resolve })(`https://hooks.example:${port}/`)).toEqual({
    failure: "tls_failed",
  });
  const trusting = sender({ resolve, ca: cert });
  expect(await trusting(`https://other.example:${port}/`)).toEqual({ failure: "tls_failed" });
  expect(await trusting(`https://hooks.example:${port}/`)).toMatchObject({ status: 200 });
  expect(await trusting(`https://127.0.0.1:${port}/`)).toEqual({ failure: "tls_failed" });
  expect(seen).toEqual([`hooks.example:${port}`]);
  const { url } = await serveRecorder();
  expect(await trusting(url.replace("http:", "https:"))).toEqual({ failure: "tls_failed" });
});

test("what is on its way ends at once when it is aborted, and nothing begins after", async () => {
  const stop = new AbortController();
  const { url, requests } = await serveSilence();
  const outcome = sender({ signal: stop.signal })(url);
  await until(() => requests.length === 1);
  stop.abort();
  expect(await outcome).toEqual({ failure: "aborted" });
  expect(await sender({ signal: stop.signal })(url)).toEqual({ failure: "aborted" });
  expect(requests).toHaveLength(1);
});
