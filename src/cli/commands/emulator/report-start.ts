import { resolve } from "node:path";
import type { Emulator } from "../../../emulator/instance/create-emulator.js";
import { shellQuote } from "../../console/shell-quote.js";
import { formatTable } from "../../console/table.js";
import type { Terminal } from "../../console/terminal.js";
import type { DemoAccount } from "./demo-accounts.js";

interface Start {
  /** Those of a new database; one that goes on has its own. */
  accounts: readonly DemoAccount[];
  db: string | undefined;
  /** There was no file before. */
  isNew: boolean;
  isJson: boolean;
}

/** Says where it listens, with which keys, and what to type next. */
export async function reportStart(emulator: Emulator, start: Start, terminal: Terminal): Promise<void> {
  const { url, baseUrl } = emulator;
  const { now } = await emulator.control.now();
  const accounts = await usableAccounts(emulator, start.accounts);
  const controlUrl = `${url}/_emulator`;
  if (start.isJson) {
    // Whoever started it by npx knows the pid of that alone, and it does not hand signals on.
    terminal.printJson({ url, baseUrl, controlUrl, now, pid: process.pid, accounts });
    return;
  }
  const { bold, dim, green } = terminal.paint;
  const rows = [
    ["REST API", baseUrl],
    ["Control", controlUrl],
    ["OpenAPI", `${url}/openapi.json`],
    ["Clock", now],
    ["Data", dataWords(start)],
  ];
  terminal.print(`${green("●")} ${bold("The service runs on this machine.")} ${dim("Ctrl-C ends it.")}`);
  terminal.print("");
  const table = rows.map(([name = "", value = ""]) => [{ text: `  ${name}`, paint: dim }, { text: value }]);
  for (const line of formatTable(table, [WIDTH])) terminal.print(line);
  terminal.print("");
  for (const line of keyLines(accounts, url, terminal)) terminal.print(line);
  terminal.print("");
  terminal.print(bold("Try"));
  for (const line of commands(baseUrl, controlUrl, accounts[0]?.key)) terminal.print(`  ${line}`);
}

const WIDTH = 18;

function dataWords({ db, isNew }: Start): string {
  if (db === undefined) return "in memory: gone at the end (--db FILE keeps it)";
  return isNew ? `${resolve(db)} (made now)` : resolve(db);
}

function keyLines(accounts: readonly DemoAccount[], url: string, { paint }: Terminal): string[] {
  if (accounts.length === 0) {
    const command = `curl -X POST ${shellQuote(`${url}/_emulator/accounts/1/keys`)}`;
    return [`${paint.bold("Keys")}  were shown when this file was made. Another one:`, `  ${command}`];
  }
  const rows = accounts.map(({ name, key }) => [{ text: `  ${name}`, paint: paint.dim }, { text: key }]);
  const hint = paint.dim("shown once; all scopes; Developer Access has 50 calls a month");
  return [`${paint.bold("Keys")}  ${hint}`, ...formatTable(rows, [WIDTH])];
}

function commands(baseUrl: string, controlUrl: string, key: string | undefined): string[] {
  const authorised = (path: string): string => `curl -H "Authorization: Bearer $KEY" '${baseUrl}${path}'`;
  return [
    `KEY=${key ?? "…"}`,
    authorised("/research/rankings?sort=growth&limit=3"),
    authorised("/research/search-demand?q=voice&limit=3"),
    `curl -X POST '${controlUrl}/clock/advance?months=1'`,
  ];
}

/** The accounts of a new database; none of a file that had its own already. */
async function usableAccounts(
  { control }: Emulator,
  accounts: readonly DemoAccount[],
): Promise<(DemoAccount & { account_id: number })[]> {
  const { items } = await control.listAccounts();
  const found = await Promise.all(
    items.map(async ({ account_id }) => {
      const hints = (await control.listKeys({ account_id })).items.map(({ hint }) => hint);
      const account = accounts.find(({ key }) => hints.some((hint) => key.startsWith(hint)));
      return account === undefined ? [] : [{ account_id, ...account }];
    }),
  );
  return found.flat();
}
