import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { outcomeOf, type CliRun } from "../cli/run-cli.js";
import type { Tool } from "../toolchain/fetch-tools.js";
import { tempFolder } from "../unit/temp-folder.js";

/** What the harness says of one rule. */
interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  errorMessage?: string;
}

/**
 * The conformance harness of the protocol's authors, which plays clients.
 *
 * @param node the program that runs it
 */
export function conformanceHarness(node: string, { folder: own }: Tool) {
  const start = (...args: string[]): Promise<CliRun> =>
    outcomeOf(spawn(node, [join(own, "dist/index.js"), ...args]));
  return {
    /** The names of all scenarios for a server. */
    async listScenarios() {
      const { stdout } = await start("list", "--server");
      return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
    },
    /** Runs the scenarios that a revision demands, and those that the harness has for it besides. */
    async run(url: string, revision: string) {
      const folder = tempFolder();
      const where = ["--url", url, "--output-dir", folder];
      const { stderr } = await start("server", "--requirements", revision, ...where);
      const results = readdirSync(folder).map((name): [string, Check[]] => {
        const [, scenario = name] = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
        return [
          scenario,
          JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[],
        ];
      });
      if (results.length === 0)
        throw new Error(`The conformance harness has no results: ${stderr}`);
      return new Map(results);
    },
  };
}

/**
 * In each scenario the harness validates every message that it gets. This applies to every server.
 */
const MESSAGES = "wire-schema-valid";

/**
 * Returns what did not succeed, with the words of the harness: by `scenario:check`, or by
 * `scenario` if `listed` has that.
 */
export function findingsOf(
  results: ReadonlyMap<string, readonly Check[]>,
  listed: ReadonlySet<string>,
): Map<string, string> {
  const findings = new Map<string, string>();
  for (const [scenario, checks] of results) {
    for (const { id, status, errorMessage = status } of checks) {
      if (status === "SUCCESS" || status === "INFO") continue;
      findings.set(
        listed.has(scenario) && id !== MESSAGES ? scenario : `${scenario}:${id}`,
        errorMessage,
      );
    }
    const hasSucceeded = checks.some(({ id, status }) => status === "SUCCESS" && id !== MESSAGES);
    if (!hasSucceeded) findings.set(scenario, "no check has succeeded");
  }
  return findings;
}
