import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** The pages, by the names of their files in `dist/pages/assets`. */
export type PageName = "inbox" | "dashboard";

/** A file of a page, to be sent with status 200. */
export interface PageFile {
  headers: Record<string, string>;
  body: Buffer;
}

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

interface Asset {
  /** With the hash of its content, so that a browser can keep it. */
  name: string;
  type: string;
  body: Buffer;
  gzipped: Buffer;
}

interface Page {
  html: Buffer;
  assets: Asset[];
}

/** The loaded pages. */
const pages = new Map<PageName, Page>();

/**
 * Finds a file of a page. All addresses in it are relative, so that it works below any path.
 *
 * @param path below the page's own address, without a leading slash; empty for the page itself
 * @param encodings the request's `Accept-Encoding`
 * @returns null when the page has no such file
 */
export function pageFile(
  name: PageName,
  path: string,
  encodings: string | undefined,
): PageFile | null {
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
  const isGzipped = /\bgzip\b/.test(encodings ?? "");
  const headers: Record<string, string> = {
    ...PAGE_HEADERS,
    "Content-Type": asset.type,
    "Cache-Control": "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
  };
  if (isGzipped) headers["Content-Encoding"] = "gzip";
  return { headers, body: isGzipped ? asset.gzipped : asset.body };
}

function loadPage(name: PageName): Page {
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

function loadAsset(file: string): Asset {
  const body = readFileSync(new URL(file, ASSETS));
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 12);
  const [stem, extension] = file.split(".") as [string, keyof typeof TYPES];
  return {
    name: `${stem}-${hash}.${extension}`,
    type: TYPES[extension],
    body,
    gzipped: gzipSync(body),
  };
}
