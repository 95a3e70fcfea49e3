import type { Reporter, TestModule } from "vitest/node";

/**
 * What may be skipped in CI, as a part of the test's full name, and why. Every other skip is a
 * failure.
 */
export const ALLOWED_SKIPS: readonly (readonly [name: RegExp, reason: string])[] = [
  [/pgbouncer/, "Needs Debian's package pgbouncer, which is no part of PostgreSQL."],
  [/^promtool accepts/, "Needs Prometheus, which only a download brings."],
  [
    /^without a token the control API answers no caller from the network/,
    "Needs a network beside loopback.",
  ],
  [
    /may not be read$|\(needs root\)$/,
    "Root may read everything; and only root may change the group of a file.",
  ],
];

/**
 * Fails the run when a test was skipped that is not on the list, because nobody would see that it
 * no longer runs.
 */
export const skipsReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    const unknown = skipped.filter(
      ({ fullName }) => !ALLOWED_SKIPS.some(([name]) => name.test(fullName)),
    );
    if (unknown.length === 0) return;
    for (const { fullName, module } of unknown) {
      process.stderr.write(
        `Skipped, and not in test/skips.ts: ${module.relativeModuleId} > ${fullName}\n`,
      );
    }
    process.exitCode = 1;
  },
};
