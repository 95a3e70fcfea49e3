#!/usr/bin/env node
// The version is checked before any import: an old Node would print only the stack trace of a
// missing feature.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `signalbox: this is Node ${process.versions.node}; signalbox needs 20.19 or later.\n`,
  );
  process.exitCode = 3;
} else {
  const { runProcess } = await import("./run.js");
  await runProcess();
}
