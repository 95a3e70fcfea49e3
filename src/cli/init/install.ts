import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Cli } from "../console/cli.js";
import type { PackageManager } from "./signalbox-package.js";

/**
 * Installs the dependencies. The package manager gets no stdin, so it cannot wait for input of the
 * user. What it prints is shown on stderr; on a terminal a line below it counts the seconds.
 *
 * @returns why they are not installed; null when they are
 */
export function install(name: PackageManager, cwd: string, cli: Cli): Promise<string | null> {
  const { signal, stderr, terminal } = cli;
  const text = `installs by ${name}: often less than a minute, but up to six if better-sqlite3 has to be compiled`;
  terminal.note(terminal.notePaint.dim(text));
  const prebuilt = mkdtempSync(join(tmpdir(), "signalbox-driver-"));
  const env = { ...cli.env, ...driverFrom(prebuilt) };
  let seconds = 0;
  const show = (line: string): void => void (stderr.isTTY && stderr.write(`\r\u001b[K${line}`));
  const timer = setInterval(() => show(`${name} install: ${++seconds} s`), 1000);
  return new Promise<string | null>((settle) => {
    const failed = (why: string): void => settle(signal.aborted ? "interrupted" : why);
    // On Windows package managers are scripts, which need a shell. The shell is safe, because no
    // argument comes from the user.
    const shell = process.platform === "win32";
    const options = { cwd, env, signal, shell };
    const child = spawn(name, ["install"], { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (line) => {
        // npm 11 warns of the variable, which is for an installer that it runs.
        if (line.includes("local-prebuilds")) return;
        show("");
        terminal.note(line);
      });
    child.once("error", ({ code }: NodeJS.ErrnoException) =>
      failed(code === "ENOENT" ? `${name} was not found` : `\`${name} install\` failed`),
    );
    child.once("close", (exitCode) =>
      exitCode === 0 ? settle(null) : failed(`\`${name} install\` failed`),
    );
  }).finally(() => {
    clearInterval(timer);
    show("");
    rmSync(prebuilt, { recursive: true, force: true });
  });
}

/**
 * Packs the binary of the better-sqlite3 that runs here, so that it is not compiled a second time.
 * Its installer looks for one of the same version, Node and platform in a folder that a variable
 * names. Versions from 13 on bring their binaries, so there is none to pack.
 *
 * @param folder gets the packed binary
 * @returns the variables for the package manager; none where there is no such binary
 */
function driverFrom(folder: string): NodeJS.ProcessEnv {
  try {
    const manifest = createRequire(import.meta.url).resolve("better-sqlite3/package.json");
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    const { platform, arch, versions } = process;
    const name = `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
    const binary = "build/Release/better_sqlite3.node";
    const args = ["-czf", join(folder, name), "-C", dirname(manifest), binary];
    execFileSync("tar", args, { stdio: "ignore" });
    return { npm_config_better_sqlite3_local_prebuilds: folder };
  } catch {
    return {};
  }
}
