import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { constants, createGzip, gzipSync } from "node:zlib";
import { ignore } from "../../base/errors.js";

/** The pages, by the names of their files in `dist/pages/assets`. */
type PageName = "inbox" | "dashboard";

/**
 * For every answer of a page, its data too. No script, style or request of another origin, and no
 * frame around the page.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Where esbuild writes the scripts and styles. */
const ASSETS = new URL("../../../dist/pages/assets/", import.meta.url);
const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;
const TITLES: Readonly<Record<PageName, string>> = { inbox: "Inbox", dashboard: "Dashboard" };

/** The loaded pages. */
const pages = new Map<PageName, ReturnType<typeof loadPage>>();

/**
 * Finds a file of a page. All addresses in it are relative, so that it works below any path.
 *
 * @param path below the page's own address, without a leading slash; empty for the page itself
 * @param encodings the request's `Accept-Encoding`
 * @returns to be sent with status 200; null when the page has no such file
 */
export function pageFile(
  name: PageName,
  path: string,
  encodings: string | undefined,
): { headers: Record<string, string>; body: Buffer } | null {
  const page = pages.get(name) ?? loadPage(name);
  pages.set(name, page);
  if (path === "") {
    return {
      headers: { ...PAGE_HEADERS, "Content-Type": "text/html; charset=utf-8" },
      body: page.html,
    };
  }
  const asset = page.assets.find((each) => path === `assets/${each.name}`);
  if (asset === undefined) return null;
  const isGzipped = takesGzip(encodings);
  const headers: Record<string, string> = {
    ...PAGE_HEADERS,
    "Content-Type": asset.type,
    "Cache-Control": "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
  };
  if (isGzipped) headers["Content-Encoding"] = "gzip";
  return { headers, body: isGzipped ? asset.gzipped : asset.body };
}

/** @param encodings a request's `Accept-Encoding` */
export const takesGzip = (encodings: string | undefined): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(encodings ?? "");

function loadPage(name: PageName) {
  const [script, style] = [loadAsset(`${name}.js`), loadAsset("style.css")];
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${TITLES[name]} · signalbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/${style.name}">
<script type="module" src="assets/${script.name}"></script>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
  return { html: Buffer.from(html), assets: [script, style] };
}

function loadAsset(file: string) {
  const body = readFileSync(new URL(file, ASSETS));
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 12);
  const [stem, extension] = file.split(".") as [string, keyof typeof TYPES];
  return {
    // With the hash of its content, so that a browser can keep it.
    name: `${stem}-${hash}.${extension}`,
    type: TYPES[extension],
    body,
    gzipped: gzipSync(body),
  };
}

/**
 * The open streams of a live channel. Both pages have one: the inbox page sends server-sent events,
 * the dashboard lines of JSON. `page/parts/follow-live.ts` reads both. A stream is compressed as a
 * whole, so that what a message repeats of those before takes few bytes.
 *
 * @param nothing what the client of a new stream has seen
 * @param onFirst called when the first stream opens
 * @param onLast called when the last stream has closed
 */
export function createLiveStreams<Seen>(nothing: Seen, onFirst: () => void, onLast: () => void) {
  /** The open streams, each with what its client has seen. */
  const streams = new Map<ServerResponse, { seen: Seen; out: Writable }>();

  /** A client that does not read would keep an ended stream open. */
  function end(response: ServerResponse): void {
    if (response.writableNeedDrain) response.destroy();
    else attempt(response, () => streams.get(response)?.out.end());
  }

  return {
    get size(): number {
      return streams.size;
    },
    /** Answers with a stream. It stays open until the client goes or the server ends it. */
    open(response: ServerResponse, headers: Readonly<Record<string, string>>, hello: string): void {
      response.on("error", ignore);
      const isPacked = takesGzip(response.req.headers["accept-encoding"]);
      const encoding = isPacked ? { "Content-Encoding": "gzip" } : {};
      response.writeHead(200, { ...headers, ...STREAM_HEADERS, ...encoding });
      const out = isPacked ? packer(response) : response;
      attempt(response, () => out.write(hello));
      response.on("close", () => {
        out.destroy();
        streams.delete(response);
        if (streams.size === 0) onLast();
      });
      if (streams.size === 0) onFirst();
      streams.set(response, { seen: nothing, out });
    },
    /** Writes to each stream what its client has not seen yet; null: nothing. */
    write(messageAfter: (seen: Seen) => { text: string; seen: Seen } | null): void {
      for (const [response, { seen, out }] of streams) {
        // A client that does not read gets nothing more until it does.
        if (response.writableNeedDrain || out.writableEnded) continue;
        const message = messageAfter(seen);
        if (message === null) continue;
        streams.set(response, { seen: message.seen, out });
        attempt(response, () => out.write(message.text));
      }
    },
    end,
    endAll: (): void => streams.forEach((_seen, response) => end(response)),
  };
}

/**
 * `no-transform`: a middleware or proxy that compresses would hold messages back. The last header
 * tells it to nginx.
 */
const STREAM_HEADERS = {
  "Cache-Control": "no-store, no-transform",
  "X-Content-Type-Options": "nosniff",
  "X-Accel-Buffering": "no",
};

/** Compresses into a response, each text at once. */
function packer(response: ServerResponse): Writable {
  // Not by `pipe`, in which a hook of the application that throws would end the process.
  return createGzip({ flush: constants.Z_SYNC_FLUSH })
    .on("error", ignore)
    .on("data", (part: Buffer) => attempt(response, () => response.write(part)))
    .on("end", () => attempt(response, () => response.end()));
}

/** The hooks of the application on the response may throw. */
function attempt(response: ServerResponse, act: () => void): void {
  try {
    act();
  } catch {
    response.destroy();
  }
}
