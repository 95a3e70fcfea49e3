import { goesOn, placeAt, type Place } from "./find-places.js";
import { stripComments } from "./strip-comments.js";

const NAMES = ["SIGTERM", "SIGINT"] as const;

type TerminationSignal = (typeof NAMES)[number];

/** What an app does when it is told to end. */
export interface Shutdown extends Place {
  signals: readonly TerminationSignal[];
  /** Its function begins on that line and ends on a later one, so that a line can be put inside. */
  isOpen: boolean;
  isAsync: boolean;
  /** It ends the process itself. */
  exits: boolean;
  /** A statement of its own can stand above the line. */
  isStatement: boolean;
}

const REGISTRATION =
  /process\s*\.\s*(?:on|once|addListener|prependListener)\s*\(\s*(?:(["'`])(SIGTERM|SIGINT)\1|[A-Za-z_$][\w$]*)\s*,\s*(?:([A-Za-z_$][\w$]*)\s*\))?/g;

/** Each function that runs at SIGTERM or SIGINT, once. */
export function findShutdowns(file: string, source: string): Shutdown[] {
  const code = stripComments(source);
  const mentioned = NAMES.filter((name) => new RegExp(`["'\`]${name}["'\`]`).test(code));
  if (mentioned.length === 0) return [];
  const found = new Map<number, Shutdown>();
  const add = (signals: readonly TerminationSignal[], index: number): void => {
    const before = found.get(index)?.signals ?? [];
    const all = NAMES.filter((name) => before.includes(name) || signals.includes(name));
    found.set(index, { ...shutdownAt(file, source, index), signals: all });
  };
  for (const { index, 2: name, 3: handler } of code.matchAll(REGISTRATION)) {
    add(name === undefined ? mentioned : [name as TerminationSignal], definitionOf(handler, code) ?? index);
  }
  // Somebody else's function is given the names.
  const [first] = mentioned;
  if (found.size === 0 && first !== undefined) add(mentioned, code.search(new RegExp(`["'\`]${first}["'\`]`)));
  return [...found.values()];
}

/** Where a function of that name is written. */
function definitionOf(name: string | undefined, code: string): number | null {
  if (name === undefined) return null;
  const escaped = name.replaceAll("$", "\\$&");
  const definition = new RegExp(
    `(?<![\\w$.])(?:(?:async\\s+)?function\\s+${escaped}\\s*\\(|(?:const|let|var)\\s+${escaped}\\s*(?::[^=\\n]+)?=\\s*(?:async\\b|function\\b|\\())`,
  ).exec(code);
  return definition?.index ?? null;
}

function shutdownAt(file: string, source: string, index: number): Omit<Shutdown, "signals"> {
  const place = placeAt(file, source, index);
  const lines = stripComments(source).split("\n");
  const head = (lines[place.line - 1] ?? "").trim();
  const isOpen = /(?:=>\s*|\bfunction\b.*)\{$/.test(head);
  const rest = lines.slice(place.line);
  const end = rest.findIndex((line) =>
    isOpen ? line.startsWith(`${place.indent}}`) : line.trim() !== "" && line.search(/\S/) <= place.indent.length,
  );
  const body = [head, ...rest.slice(0, Math.max(0, end))];
  return {
    ...place,
    isOpen,
    isAsync: /\basync\b/.test(head),
    exits: body.some((line) => /\bprocess\s*\.\s*exit\b/.test(line)),
    isStatement: /^process\b/.test(place.text) && !goesOn(place, source),
  };
}
