import { API_PREFIX } from "../../api/operations.js";
import { MCP_PATH } from "../mcp/call-mcp.js";
import { CONTROL_PREFIX } from "../control/control-operation.js";
import type { Answer } from "./answer.js";

const ABOUT = "The Product Intelligence service, emulated on this machine by signalbox.";

const PARTS = [
  { name: "REST API", path: API_PREFIX, about: "needs an API key; the emulator printed some when it started" },
  { name: "Remote MCP", path: MCP_PATH, about: "the same research as tools for models; needs an API key" },
  { name: "OpenAPI", path: "/openapi.json", about: "describes the REST API" },
  { name: "Control API", path: CONTROL_PREFIX, about: "makes keys, publishes signals and advances the clock" },
] as const;

const DOCS = "docs/emulator.md of the package's repository explains all of this";

/** Tells what runs here: a page for a browser, JSON for everything else. */
export function homePage(accept: string): Answer {
  if (!accept.toLowerCase().includes("text/html"))
    return { status: 200, headers: {}, body: { about: ABOUT, parts: PARTS, docs: DOCS } };
  const items = PARTS.map(({ name, path, about }) => {
    // Nothing answers a GET at these two, so they are no links.
    const shown = path === API_PREFIX || path === MCP_PATH ? path : `<a href="${path}">${path}</a>`;
    return `<li>${name}: ${shown} (${about})</li>`;
  });
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>signalbox emulator</title>
<h1>signalbox emulator</h1>
<p>${ABOUT}</p>
<ul>
${items.join("\n")}
</ul>
<p>${DOCS}.</p>
</html>
`;
  return { status: 200, headers: { "Content-Type": "text/html; charset=utf-8" }, body: Buffer.from(page) };
}
