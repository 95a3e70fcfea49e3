import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

// What only the tools load is bundled into `dist`, so that a production install does not bring it.
// A source imports the bundle by the name that `imports` of package.json gives it.
const { metafile } = await build({
  entryPoints: {
    commander: "commander",
    "clack-prompts": "@clack/prompts",
    "mcp-server": "@modelcontextprotocol/server",
  },
  outdir: "dist/bundled",
  bundle: true,
  minify: true,
  // Node prints the whole line of an error that nobody catches.
  lineLimit: 200,
  // Commander is CommonJS.
  banner: {
    js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);',
  },
  platform: "node",
  format: "esm",
  target: "node20.19",
  // A dependency of signalbox itself.
  external: ["zod"],
  metafile: true,
  logLevel: "warning",
});

/** What the SDK of the MCP has copied into its own files, of which esbuild does not know. */
const COPIED = [
  "ajv",
  "ajv-formats",
  "content-type",
  "fast-deep-equal",
  "fast-uri",
  "json-schema-traverse",
];
const bundled = Object.keys(metafile.inputs).map(
  (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)[0],
);
/** And what the pages are made with. */
const others = [...COPIED, "preact"].map((name) => `node_modules/${name}`);
const packages = new Set([...bundled, ...others]);
const texts = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", texts.join(`\n${"-".repeat(80)}\n\n`));
