import { spawn } from "node:child_process";

/** Opens the address in the user's browser if there is one. Whoever calls it prints the address too, since nothing tells whether it worked. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): void {
  const command = commandOf(url, env, platform);
  if (command === null) return;
  const [file, ...args] = command;
  const child = spawn(file, args, { detached: true, stdio: "ignore", env, windowsHide: true });
  // There may be no such command.
  child.on("error", () => undefined);
  child.unref();
}

function commandOf(url: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): [string, ...string[]] | null {
  if (platform === "darwin") return ["open", url];
  // The first argument in quotes is the title of a window.
  if (platform === "win32") return ["cmd", "/c", "start", '""', url];
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].some((name) => (env[name] ?? "") !== "");
  return hasDisplay ? ["xdg-open", url] : null;
}
