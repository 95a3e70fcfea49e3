import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isJsonObject } from "../deliveries/restamp.js";
import { PACKAGE_FOLDER } from "./package-folder.js";
import { translatorFor } from "./for-sender.js";
import {
  approveBuilds,
  nodesFor,
  withCommandsOf,
  type ApprovableManifest,
  type PackageManager,
} from "./package-manager.js";
import type { Template } from "./templates.js";
import type { PlannedFile } from "./write-files.js";

const FOLDER = join(PACKAGE_FOLDER, "templates");

const SECRET_FILE = "signals.secret";
/** Files that hold secrets. Git ignores them. */
const PRIVATE_FILES: ReadonlySet<string> = new Set([".env", SECRET_FILE]);

export interface Project {
  name: string;
  files: PlannedFile[];
}

interface ProjectChoices {
  directory: string;
  packageManager: PackageManager;
  /** The value of `signalbox` in `dependencies`. */
  signalbox: string;
  /** Whether that is a tarball in the project. */
  hasCopy: boolean;
}

type Manifest = ApprovableManifest & { dependencies?: Record<string, string> };

/**
 * Files with commands of npm, which are replaced with the commands of the chosen package manager.
 */
const WITH_COMMANDS = /(^|\/)(README\.md|Dockerfile|\.env\.example|ci\.yml)$/;

/** Files that are written for npm and pnpm alone: others install in their own ways. */
const FOR_MACHINES = /^(Dockerfile|\.dockerignore|compose\.yaml|\.github\/)/;

/**
 * Keeps what stands between the marks `if WORD` and `end WORD` for these words, and removes what
 * stands between others. A mark is a line of its own, as a comment.
 */
function keepMarked(text: string, words: ReadonlySet<string>): string {
  const marked =
    /^[^\w\n]*if (sqlite|postgres|docker|signals|sender|vendor)\b.*\n([^]*?)^[^\w\n]*end \1\b.*\n/gm;
  const kept = text.replaceAll(marked, (_all, word: string, part: string) =>
    words.has(word) ? keepMarked(part, words) : "",
  );
  return kept.replaceAll(/\n{3,}/g, "\n\n");
}

export function planProject({ layers, sender }: Template, choices: ProjectChoices): Project {
  const { directory, packageManager, signalbox, hasCopy } = choices;
  const hasMachines = packageManager === "npm" || packageManager === "pnpm";
  const words = new Set([
    layers.includes("postgres") ? "postgres" : "sqlite",
    sender === undefined ? "signals" : "sender",
    ...(hasMachines ? ["docker"] : []),
    ...(hasCopy ? ["vendor"] : []),
  ]);
  const translate = sender === undefined ? (text: string) => text : translatorFor(sender);
  const contents = new Map<string, string>();
  const manifest: Manifest = {};
  for (const layer of layers) {
    for (const path of filesOf(join(FOLDER, layer))) {
      const content = keepMarked(readFileSync(join(FOLDER, layer, path), "utf8"), words);
      if (path === "package.json") merge(manifest, JSON.parse(content) as Manifest);
      // In `templates/`, .gitignore, .oxlintrc.json and .github have names that begin with _.
      // Otherwise the first would affect how npm packs signalbox, and the second how signalbox is
      // linted.
      else contents.set(translate(path.replace(/^_/, ".")), translate(content));
    }
  }
  manifest.dependencies = sortedByKey({ ...manifest.dependencies, signalbox });
  const name = projectNameOf(directory, Object.keys(manifest.dependencies));
  manifest["name"] = name;
  const nodeMajor = Number.parseInt(process.versions.node, 10);
  const builds = approveBuilds(packageManager, manifest, nodeMajor);
  contents.set("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  // A made-up secret, so that `replay` and `send` work before the receiver is registered. All
  // senders take one of this form.
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  contents.set(
    ".env",
    (contents.get(".env.example") ?? "").replace(/^\w+_WEBHOOK_SECRET=$/m, `$&${secret}`),
  );
  if (sender === undefined)
    contents.set(SECRET_FILE, `whsec_local_${randomBytes(24).toString("hex")}\n`);
  for (const { path, content } of builds) contents.set(path, content);
  const [olderNode, imageNode] = nodesFor(nodeMajor);
  const written = [...contents].filter(([path]) => hasMachines || !FOR_MACHINES.test(path));
  const files = written.map(([path, content]): PlannedFile => {
    const text = WITH_COMMANDS.test(path) ? withCommandsOf(packageManager, content) : content;
    const filled = text
      .replaceAll("{{name}}", name)
      // So two projects in one database do not share an inbox. PostgreSQL allows 63 bytes.
      .replaceAll("{{schema}}", `signalbox_${name.replaceAll(/\W+/g, "_")}`.slice(0, 63))
      .replaceAll("{{olderNode}}", String(olderNode))
      .replaceAll("{{imageNode}}", String(imageNode));
    return { path, content: filled, ...(PRIVATE_FILES.has(path) && { isPrivate: true as const }) };
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
