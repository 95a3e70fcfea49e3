import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempFolder } from "../../unit/temp-folder.js";

/** Needs Linux, and root or a sudo that asks nothing. */
export const canMount = process.platform === "linux" && canMountNow();

function canMountNow(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-mount-"));
  try {
    mount(["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
    unmount(folder);
    return true;
  } catch {
    return false;
  }
}

/** A file system of its own, for a test to fill. */
export function smallDisk(megabytes: number) {
  const folder = tempFolder();
  mount(["-t", "tmpfs", "-o", `size=${megabytes}m,mode=777`, "tmpfs", folder]);
  let files = 0;
  onTestFinished(() => unmount(folder));
  return {
    folder,
    /** Another file takes so much, or all that is left. @returns how to delete it */
    fill(bytes = Infinity) {
      const path = join(folder, `filler-${++files}`);
      writeUpTo(path, bytes);
      return () => rmSync(path);
    },
    /** As `mount -o remount,ro`: the kernel refuses it while a file is open for writing. */
    setReadOnly: (readOnly: boolean) => mount(["-o", `remount,${readOnly ? "ro" : "rw"}`, folder]),
  };
}

export type SmallDisk = ReturnType<typeof smallDisk>;

/** Mounts one file at another path, as a container does. */
export function bindMount(file: string, at: string): void {
  closeSync(openSync(at, "w"));
  mount(["--bind", file, at]);
  onTestFinished(() => unmount(at));
}

/** As far as the disk lets it. */
function writeUpTo(path: string, bytes: number): void {
  const file = openSync(path, "w");
  try {
    for (let left = bytes, portion = 1 << 20; left > 0 && portion >= 1;) {
      try {
        left -= writeSync(file, Buffer.alloc(Math.min(portion, left)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        portion >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}

function mount(args: readonly string[]): void {
  asRoot("mount", args);
}

/** Lazily: what a process that is just ending has open must not fail the test. */
function unmount(folder: string): void {
  asRoot("umount", ["--lazy", folder]);
}

function asRoot(command: string, args: readonly string[]): void {
  if (process.getuid?.() === 0) execFileSync(command, args, { stdio: "pipe" });
  else execFileSync("sudo", ["-n", command, ...args], { stdio: "pipe" });
}
