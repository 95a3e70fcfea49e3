import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SenderName } from "../../kit/senders/records.js";
import { isJsonObject } from "../deliveries/event-source.js";
import { fillTemplate, marksFor } from "./fill-template.js";
import { PACKAGE_FOLDER, withCommandsOf, type PackageManager } from "./signalbox-package.js";
import type { Store, Template } from "./templates.js";
import type { PlannedFile } from "./write-files.js";

const FOLDER = join(PACKAGE_FOLDER, "templates");

const SECRET_FILE = "signals.secret";
/** Files that hold secrets. Git ignores them. */
const PRIVATE_FILES: ReadonlySet<string> = new Set([".env", SECRET_FILE]);

interface ProjectChoices {
  directory: string;
  store: Store;
  sender: SenderName | undefined;
  packageManager: PackageManager;
  /** The value of `signalbox` in `dependencies`. */
  signalbox: string;
  /** Whether that is a tarball in the project. */
  hasCopy: boolean;
}

interface Manifest extends Record<string, unknown> {
  dependencies?: Record<string, string>;
}

/** Files that are written for npm and pnpm alone: others install in their own ways. */
const FOR_MACHINES = /^(Dockerfile|\.dockerignore|compose\.yaml|\.github\/)/;

/** The oldest major version of Node that better-sqlite3 13 supports. It crashes older versions. */
const MIN_NODE_FOR_13 = 22;
const FOR_OLDER_NODE = { "better-sqlite3": "12.9.0" };

/**
 * The versions of Node that support the better-sqlite3 version that the package manager locks under
 * the Node that runs `init`. CI tests with both, and the Docker image has the newer one.
 */
export const nodesFor = (nodeMajor: number): readonly [older: number, newer: number] =>
  nodeMajor < MIN_NODE_FOR_13 ? [20, 22] : [22, 24];

/** The project that `init` writes, as it is under a Node of `nodeMajor`. */
export function planProject(
  { layer }: Template,
  { directory, store, sender, packageManager, signalbox, hasCopy }: ProjectChoices,
  nodeMajor = Number.parseInt(process.versions.node, 10),
) {
  // A file of a later folder replaces an earlier file of the same path, but a later `package.json`
  // is merged into the earlier one. So a later folder holds only the differences.
  const layers = ["express", sender === undefined ? "signals" : "sender"];
  if (layer !== undefined) layers.push(layer);
  if (store === "postgres") layers.push("postgres");
  if (packageManager !== "npm") layers.push(packageManager);
  const texts = new Map<string, string>();
  const manifest: Manifest = {};
  for (const each of layers) {
    for (const path of filesOf(join(FOLDER, each))) {
      const text = readFileSync(join(FOLDER, each, path), "utf8");
      if (path === "package.json") merge(manifest, JSON.parse(text) as Manifest);
      // In `templates/`, .gitignore, .oxlintrc.json and .github have names that begin with _.
      // Otherwise the first would affect how npm packs signalbox, and the second how signalbox is
      // linted.
      else texts.set(path.replace(/^_/, "."), text);
    }
  }
  manifest.dependencies = sortedByKey({ ...manifest.dependencies, signalbox });
  const name = projectNameOf(directory, Object.keys(manifest.dependencies));
  manifest["name"] = name;
  // npm itself installs a better-sqlite3 that supports the running Node. pnpm reads its own file.
  const isOlderNode = nodeMajor < MIN_NODE_FOR_13;
  if (isOlderNode && packageManager === "yarn") manifest["resolutions"] = FOR_OLDER_NODE;
  if (isOlderNode && packageManager === "bun") manifest["overrides"] = FOR_OLDER_NODE;

  const hasMachines = packageManager === "npm" || packageManager === "pnpm";
  const marks = marksFor(sender);
  const words = [
    ...marks.words,
    store,
    packageManager,
    ...(hasMachines ? ["docker"] : []),
    ...(hasCopy ? ["vendor"] : []),
    ...(isOlderNode ? ["olderNode"] : []),
  ];
  const [olderNode, imageNode] = nodesFor(nodeMajor);
  const values = {
    ...marks.values,
    name,
    // So two projects in one database do not share an inbox. PostgreSQL allows 63 bytes.
    schema: `signalbox_${name.replaceAll(/\W+/g, "_")}`.slice(0, 63),
    olderNode: String(olderNode),
    imageNode: String(imageNode),
  };
  const contents = new Map<string, string>();
  for (const [path, text] of texts) {
    if (!hasMachines && FOR_MACHINES.test(path)) continue;
    const filled = fillTemplate(text, { ...marks, words, values });
    contents.set(path, withCommandsOf(packageManager, filled));
  }
  const scripts = fillTemplate(JSON.stringify(manifest, null, 2), { ...marks, words, values });
  contents.set("package.json", `${scripts}\n`);
  // A made-up secret, so that `replay` and `send` work before the receiver is registered. All
  // senders take one of this form.
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const example = contents.get(".env.example") ?? "";
  contents.set(".env", example.replace(/^\w+_WEBHOOK_SECRET=$/m, `$&${secret}`));
  if (sender === undefined)
    contents.set(SECRET_FILE, `whsec_local_${randomBytes(24).toString("hex")}\n`);
  const files = [...contents].map(([path, content]): PlannedFile => {
    return { path, content, ...(PRIVATE_FILES.has(path) && { isPrivate: true as const }) };
  });
  return { name, files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    )
    .filter((path) => !path.startsWith("node_modules/"));
}

/**
 * Merges `over` into `base`, as RFC 7396 does: objects with objects. Null removes a value, and any
 * other value replaces it.
 */
function merge(base: Record<string, unknown>, over: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(over)) {
    const before = base[key];
    if (value === null) {
      delete base[key];
    } else if (isJsonObject(before) && isJsonObject(value)) {
      merge(before, value);
      base[key] = key.endsWith("ependencies") ? sortedByKey(before) : before;
    } else {
      base[key] = value;
    }
  }
}

function sortedByKey<Value>(group: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * @param taken packages that the project needs: npm refuses to install one into a project of the
 * same name
 */
function projectNameOf(directory: string, taken: readonly string[]): string {
  const name = basename(directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  if (name === "") return "signal-receiver";
  return taken.includes(name) ? `${name}-receiver` : name;
}
