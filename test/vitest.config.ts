import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { skipsReporter } from "./skips.js";

const DIST = new URL("../dist/kit/stores/sqlite/", import.meta.url);
const THREAD = "./background-thread.js";

/** A thread runs its script as Node finds it, untransformed: the built one. */
const threadsFromDist = {
  name: "threads-from-dist",
  transform(code: string, id: string): string | undefined {
    if (!id.endsWith("/src/kit/stores/sqlite/background.ts")) return undefined;
    return code.replace(`"${THREAD}"`, JSON.stringify(new URL(THREAD, DIST).href));
  },
};

/** From the longest files to the shortest: none of them runs alone at the end. */
const PROJECTS = ["matrix", "slow", "package", "fast"];
const LONG =
  /\/(power-loss|background-thread|kill-at-call|browser|starters|(node|postgres)-versions|package-managers|frameworks)\.test\.ts$/;
/** Most of their tests start processes. */
const LONGISH = /\/test\/(cli|contract|emulator|faults|process)\//;

/**
 * A worker keeps its modules only while the next file is of the same project, so the files of a
 * project run one after the other.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification): number =>
      10 * PROJECTS.indexOf(project.name) +
      (LONG.test(moduleId) ? 0 : LONGISH.test(moduleId) ? 1 : 2);
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** Takes minutes: `npm run test:storm` runs it, and CI in a short form. */
const STORM = ["test/storm/storm.test.ts"];

const testsOf = (...folders: string[]): string[] =>
  folders.map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  plugins: [threadsFromDist],
  test: {
    reporters: process.env["CI"] === undefined ? ["default"] : ["default", skipsReporter],
    root: new URL("..", import.meta.url).pathname,
    // Tests open SQLite files and child processes: a fork keeps a crash away from the other tests.
    pool: "forks",
    // One module graph a worker: to import it anew for each file takes longer than most files'
    // tests.
    isolate: false,
    // Much of the time is spent waiting for child processes, so there is one worker more than cores.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    globalSetup: "test/temp-folder.ts",
    // Long enough for a machine that is busy with something else: no test waits for time to pass.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: testsOf("unit", "contract", "types", "http", "emulator", "cli"),
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: testsOf("faults", "properties", "pages", "process", "repo", "storm"),
          exclude: STORM,
        },
      },
      {
        extends: true,
        test: { name: "storm", include: STORM },
      },
      {
        extends: true,
        test: {
          name: "package",
          include: testsOf("package", "templates"),
          globalSetup: ["test/temp-folder.ts", "test/package/pack.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "matrix",
          include: testsOf("package-matrix"),
          globalSetup: ["test/temp-folder.ts", "test/package/pack.ts"],
          // They fetch, compile and install.
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
