import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

/** Lints sources as if they stood in src/ and returns the rules that each broke, by path. */
function lint(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-lint-"));
  try {
    copyFileSync(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [path, source] of sources) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), source);
    }
    const oxlint = join(ROOT, "node_modules/oxlint/bin/oxlint");
    const { stdout } = spawnSync(process.execPath, [oxlint, "-f", "json", "src"], { cwd: folder, encoding: "utf8" });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
    return new Map(
      [...sources.keys()].map((path) => [
        path,
        diagnostics.filter(({ filename }) => filename === path).map(({ code }) => code),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const FORBIDDEN = [
  ["src/signature", "../inbox/store.js"],
  ["src/signature", "node:fs"],
  ["src/events", "../signature/verify.js"],
  ["src/inbox", "../receiver/receiver.js"],
  ["src/inbox", "../stores/memory.js"],
  ["src/inbox", "better-sqlite3"],
  ["src/stores", "../inbox/batcher.js"],
  ["src/stores/sqlite", "../../inbox/dispatch/dispatcher.js"],
  ["src/stores/sqlite", "../../events/envelope.js"],
  ["src/receiver", "../stores/memory.js"],
  ["src/receiver", "express"],
  ["src/receiver", "../telemetry/open-telemetry.js"],
  ["src/receiver", "@opentelemetry/api"],
  ["src/inbox", "../telemetry/trace-parent.js"],
  ["src/telemetry", "@opentelemetry/sdk-metrics"],
  ["src/telemetry", "../stores/memory.js"],
  ["src/telemetry", "../index.js"],
  ["src/client", "../receiver/pipeline.js"],
  ["src/client", "../signature/sign.js"],
  ["src/client", "node:crypto"],
  ["src/client", "pino"],
  ["src/testing", "../stores/sqlite/sqlite-store.js"],
  ["src/testing", "../cli/main.js"],
  ["src/api", "../receiver/receiver.js"],
  ["src/api", "../client/client.js"],
  ["src/api", "../emulator/assumptions.js"],
  ["src/api", "node:crypto"],
  ["src/api", "express"],
  ["src/api/openapi", "../../emulator/assumptions.js"],
  ["src/client", "../emulator/assumptions.js"],
  ["src/client", "../inbox/inbox.js"],
  ["src/emulator", "../receiver/receiver.js"],
  ["src/emulator", "../inbox/inbox.js"],
  ["src/emulator", "../stores/memory.js"],
  ["src/emulator", "../client/client.js"],
  ["src/emulator", "../cli/main.js"],
  ["src/emulator/webhooks", "../../stores/memory.js"],
  ["src/client/transport", "../../emulator/assumptions.js"],
  ["src/receiver", "../inbox-page/inbox-page.js"],
  ["src/inbox", "../browser-parts/page-files.js"],
  ["src/client", "../browser-parts/page-files.js"],
  ["src/inbox-page", "../stores/memory.js"],
  ["src/inbox-page", "../cli/main.js"],
  ["src/inbox-page", "../emulator/index.js"],
  ["src/inbox-page", "express"],
  ["src/timeline", "../stores/memory.js"],
  ["src/browser-parts", "node:fs"],
  ["src/inbox-page/browser", "../../receiver/receiver.js"],
  ["src/emulator/dashboard", "../../receiver/receiver.js"],
] as const;

test("imports that point outwards are refused", () => {
  const probes = new Map(
    FORBIDDEN.map(([folder, from], index) => [`${folder}/probe-${index}.ts`, `export * from "${from}";\n`]),
  ).set("src/index.ts", 'export * from "./stores/memory.js";\n');
  const found = lint(probes);
  for (const path of probes.keys()) expect(found.get(path), path).toContain("eslint(no-restricted-imports)");
});

test("only the command line reads the environment, and circles are refused, of types too", () => {
  const source = "export const home = process.env['HOME'];\n";
  const found = lint(
    new Map([
      ["src/receiver/environment.ts", source],
      ["src/cli/environment.ts", source],
      ["src/inbox/one.ts", 'import { two } from "./two.js";\nexport const one: number = two;\n'],
      ["src/inbox/two.ts", 'import { one } from "./one.js";\nexport const two: number = one;\n'],
      ["src/inbox/left.ts", 'import type { Right } from "./right.js";\nexport type Left = Right[];\n'],
      ["src/inbox/right.ts", 'import type { Left } from "./left.js";\nexport type Right = Left | null;\n'],
    ]),
  );
  expect(found.get("src/receiver/environment.ts")).toContain("node(no-process-env)");
  expect(found.get("src/cli/environment.ts")).toEqual([]);
  expect(found.get("src/inbox/one.ts")).toContain("import(no-cycle)");
  expect(found.get("src/inbox/left.ts")).toContain("import(no-cycle)");
});
