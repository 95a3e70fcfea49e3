import { defineConfig } from "vitest/config";

const DIST = new URL("../dist/stores/sqlite/", import.meta.url);
const THREAD = "./background-thread.js";

/** A thread runs its script as Node finds it, untransformed: the built one. */
const threadsFromDist = {
  name: "threads-from-dist",
  transform(code: string, id: string): string | undefined {
    if (!id.endsWith("/src/stores/sqlite/background.ts")) return undefined;
    return code.replace(`"${THREAD}"`, JSON.stringify(new URL(THREAD, DIST).href));
  },
};

export default defineConfig({
  plugins: [threadsFromDist],
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    // Workers open SQLite files and child processes: forks keep a crash of one file out of the others.
    pool: "forks",
    // Much of the time is spent waiting for child processes, so no core is left out.
    maxWorkers: "100%",
    // Long enough for a machine that is busy with something else: no test waits for time to pass.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
