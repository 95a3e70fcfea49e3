import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    // Workers open SQLite files and child processes: forks keep a crash of one file out of the others.
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
