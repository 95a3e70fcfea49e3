import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { isLoopbackHost } from "../../../base/addresses/address-kind.js";
import { systemClock } from "../../../base/time/clock.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import { LIMITS } from "../../../service/contract/limits.js";
import type { AssumptionOptions } from "../../../service/emulator/instance/assumption-options.js";
import type { Emulator } from "../../../service/emulator/instance/create-emulator.js";
import { formatTable, type Terminal } from "../../console/terminal.js";
import { DEFAULT_EMULATOR_URL } from "./remote-control.js";
import { clockHelp } from "./report-event.js";

type DemoAccount = ReturnType<typeof demoAccounts>[number];

/**
 * A Pro account without a monthly quota, and an account with the limits of Developer Access. Each
 * call makes new keys.
 */
export function demoAccounts() {
  return [
    { name: "Pro", tier: "pro" as const, key: newKey() },
    { name: "Developer Access", tier: "developer" as const, key: newKey() },
  ];
}

const newKey = (): string => `sbk_${randomBytes(32).toString("base64url")}`;

interface Start {
  host: string;
  assumptions: AssumptionOptions;
  controlToken: string | undefined;
  /**
   * The accounts of a new database. Empty if the database existed, because its keys are not known
   * any more.
   */
  accounts: readonly DemoAccount[];
  db: string | undefined;
  isNew: boolean;
  isJson: boolean;
}

/**
 * Prints the addresses, the keys, commands to try, and warnings about options that are probably
 * wrong.
 */
export async function reportStart(
  emulator: Emulator,
  start: Start,
  terminal: Terminal,
): Promise<void> {
  const facts = await startFacts(emulator, start.accounts);
  if (start.isJson) terminal.printJson(facts);
  else printStart(emulator, facts, start, terminal);
  for (const note of [timeNote(facts.now, start), networkNote(start)])
    if (note !== null) terminal.note(note);
}

/** The emulator's page. @param url the emulator's address */
export const dashboardUrl = (url: string): string => `${url}/_emulator/ui/`;

export const inboxUrl = (url: string): string => `${url}/_emulator/inbox/`;

export async function startFacts(
  { url, baseUrl, mcpUrl, control }: Emulator,
  demo: readonly DemoAccount[],
) {
  const { now } = await control.now();
  const made = (await control.listAccounts()).items;
  const accounts = demo.map((account, index) => ({
    account_id: made[index]?.account_id,
    ...account,
  }));
  // The pid is for scripts that stop the emulator. A script that used npx knows only the pid of
  // npx, which does not forward SIGTERM.
  const pages = { controlUrl: `${url}/_emulator`, uiUrl: dashboardUrl(url) };
  return { url, baseUrl, mcpUrl, ...pages, now, pid: process.pid, accounts };
}

function printStart(
  { url, baseUrl }: Emulator,
  { mcpUrl, controlUrl, uiUrl, now, accounts }: Awaited<ReturnType<typeof startFacts>>,
  start: Start,
  terminal: Terminal,
): void {
  const { bold } = terminal.paint;
  const rows = [
    ["REST API", baseUrl],
    ["Remote MCP", mcpUrl],
    ["Dashboard", uiUrl],
    ["Control", controlUrl],
    ...(start.controlToken === undefined ? [["", OPEN_CONTROL]] : []),
    ["OpenAPI", `${url}/openapi.json`],
    ["Clock", now],
    ["Data", textOfData(start)],
  ];
  printPlaces(rows, terminal, WIDTH);
  for (const line of keyLines(accounts, terminal)) terminal.print(line);
  terminal.print("");
  const key = accounts[0]?.key;
  if (key !== undefined) {
    printMcpClient(mcpUrl, key, terminal);
    terminal.print("");
  }
  terminal.print(bold("Try"));
  for (const line of commands(url, baseUrl, key)) terminal.print(`  $ ${line}`);
}

/** Says that the service runs, and where. @param width that of the names, at least */
export function printPlaces(
  rows: readonly (readonly string[])[],
  { print, paint }: Terminal,
  width = 0,
): void {
  const { bold, dim, green } = paint;
  print(`${green("●")} ${bold("The service runs on this machine.")} ${dim("Ctrl-C stops it.")}`);
  print("");
  const table = rows.map(([name = "", value = ""]) => [dim(`  ${name}`), value]);
  for (const line of formatTable(table, [width])) print(line);
  print("");
}

const WIDTH = 18;

const OPEN_CONTROL =
  "every user of this machine can call the control API and read all signing secrets; --control-token prevents that";

/**
 * Prints what several clients of the remote MCP take as their configuration. It stays one line, so
 * that it can be copied.
 */
function printMcpClient(mcpUrl: string, key: string, { paint, print, printJson }: Terminal): void {
  const files = ".mcp.json (Claude Code), .cursor/mcp.json, .gemini/settings.json";
  print(
    `${paint.bold("MCP client")}  ${paint.dim(`${files}; others: docs/mcp.md of the package`)}`,
  );
  const headers = { Authorization: `Bearer ${key}` };
  printJson({ mcpServers: { "product-intelligence": { type: "http", url: mcpUrl, headers } } });
}

function textOfData({ db, isNew }: Start): string {
  if (db === undefined) return "in memory; lost when the service stops (--db FILE keeps it)";
  return isNew ? `${resolve(db)} (new)` : resolve(db);
}

function keyLines(accounts: readonly DemoAccount[], { paint }: Terminal): string[] {
  if (accounts.length === 0) {
    return [
      `${paint.bold("Keys")}  were shown when this file was created. The dashboard makes new ones.`,
    ];
  }
  const rows = accounts.map(({ name, key }) => [paint.dim(`  ${name}`), key]);
  const hint = paint.dim(
    `shown only now; all scopes; Developer Access has ${LIMITS.developerCallsPerMonth} calls a month`,
  );
  return [`${paint.bold("Keys")}  ${hint}`, ...formatTable(rows, [WIDTH])];
}

function commands(url: string, baseUrl: string, key: string | undefined): string[] {
  const authorised = (path: string): string =>
    `curl -H "Authorization: Bearer $KEY" '${baseUrl}${path}'`;
  return [
    `KEY=${key ?? "…"}`,
    authorised("/research/rankings?sort=growth&limit=3"),
    authorised("/research/search-demand?q=voice&limit=3"),
    emulatorCommand(url, "follow --top 25"),
    emulatorCommand(url, "advance --months 1"),
  ];
}

function emulatorCommand(url: string, words: string): string {
  return `npx signalbox emulator ${words}${url === DEFAULT_EMULATOR_URL ? "" : ` --base-url ${url}`}`;
}

function timeNote(now: string, { assumptions }: Start): string | null {
  const aheadSeconds = Math.round((Date.parse(now) - systemClock.now()) / 1000);
  if (
    assumptions.signatureClock === "machine" ||
    Math.abs(aheadSeconds) <= DEFAULT_TOLERANCE_SECONDS
  )
    return null;
  return `note: ${clockHelp(aheadSeconds)}`;
}

function networkNote({ host, controlToken }: Start): string | null {
  if (isLoopbackHost(host)) return null;
  return (
    `note: other machines can connect to ${host}. The REST API and the remote MCP need a key, except for the product profile. The control API ` +
    (controlToken === undefined
      ? "answers only connections from this machine. A proxy or tunnel on this machine that adds no header counts as this machine"
      : "needs the control token")
  );
}
