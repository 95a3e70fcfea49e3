import { defineConfig } from "vitest/config";

export default defineConfig({
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
