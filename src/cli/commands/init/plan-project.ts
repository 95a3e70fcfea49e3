import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { alignTables } from "./align-tables.js";
import { approveBuilds, imageNodeFor, type ApprovableManifest } from "./approve-builds.js";
import { inWordsOf, type PackageManager } from "./package-manager.js";
import type { PlannedFile } from "./plan.js";
import { projectNameOf } from "./project-name.js";
import type { ProjectTemplate } from "./templates.js";

/** The same way up from `src` and from `dist`. */
const FOLDER = fileURLToPath(new URL("../../../../templates/", import.meta.url));

export interface Project {
  name: string;
  files: PlannedFile[];
}

export interface ProjectChoices {
  /** Absolute. */
  directory: string;
  packageManager: PackageManager;
  /** What stands behind `signalbox` in `dependencies`. */
  signalbox: string;
}

type Manifest = ApprovableManifest & { dependencies?: Record<string, string> };

/** Names that would have their effect already where the templates stand: on npm when it packs, on our own lint. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ["_gitignore", ".gitignore"],
  ["_oxlintrc.json", ".oxlintrc.json"],
]);
/** What speaks of commands. */
const SPEAKING = /(^|\/)(README\.md|Dockerfile|\.env\.example)$/;

/** All files of a new project, in the order of their paths. */
export function planProject({ layers }: ProjectTemplate, choices: ProjectChoices): Project {
  const { directory, packageManager, signalbox } = choices;
  const contents = new Map<string, string>();
  const manifest: Manifest = {};
  for (const layer of layers) {
    for (const path of filesOf(join(FOLDER, layer))) {
      const content = readFileSync(join(FOLDER, layer, path), "utf8");
      if (path === "package.json") merge(manifest, JSON.parse(content) as Manifest);
      else contents.set(RENAMED.get(path) ?? path, content);
    }
  }
  manifest.dependencies = sortedByKey({ ...manifest.dependencies, signalbox });
  const name = projectNameOf(directory, Object.keys(manifest.dependencies));
  manifest["name"] = name;
  const nodeMajor = Number.parseInt(process.versions.node, 10);
  const builds = approveBuilds(packageManager, manifest, nodeMajor);
  contents.set("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  contents.set(".env", withSecret(contents.get(".env.example") ?? ""));
  for (const { path, content } of builds) contents.set(path, content);
  const files = [...contents].map(([path, content]) => {
    const said = SPEAKING.test(path) ? alignTables(inWordsOf(packageManager, content)) : content;
    const own = said.replaceAll("{{name}}", name).replaceAll("{{imageNode}}", String(imageNodeFor(nodeMajor)));
    return { path, content: own, ...(path === ".env" && { isPrivate: true as const }) };
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

/** Groups are merged, anything else is replaced. */
function merge(base: Record<string, unknown>, over: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(over)) {
    const before = base[key];
    if (isGroup(before) && isGroup(value)) {
      merge(before, value);
      base[key] = key.endsWith("ependencies") ? sortedByKey(before) : before;
    } else {
      base[key] = value;
    }
  }
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sortedByKey<Value>(group: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A secret of its own for this machine, so that it starts at once; git does not take the file. */
function withSecret(example: string): string {
  return example.replace(/^SIGNALS_SECRET=.*$/m, () => `SIGNALS_SECRET=whsec_local_${randomBytes(24).toString("hex")}`);
}
