import { continuesStatement, escaped, placeAt, type Place, type Source } from "./find-places.js";

const NAMES = ["SIGTERM", "SIGINT"] as const;

type TerminationSignal = (typeof NAMES)[number];

/** A function of the app that runs at SIGTERM or SIGINT. */
export interface Shutdown extends Place {
  signals: readonly TerminationSignal[];
  /** The function begins on that line and ends on a later one, so that a line can be put inside. */
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
export function findShutdowns(source: Source): Shutdown[] {
  const { code } = source;
  const mentioned = NAMES.filter((name) => new RegExp(`["'\`]${name}["'\`]`).test(code));
  const [first] = mentioned;
  if (first === undefined) return [];
  const signalsAt = new Map<number, TerminationSignal[]>();
  for (const { index, 2: name, 3: handler } of code.matchAll(REGISTRATION)) {
    const at = definitionOf(handler, code) ?? index;
    // A variable as the name: of a loop over all of them.
    const signals = name === undefined ? mentioned : [name as TerminationSignal];
    signalsAt.set(at, [...(signalsAt.get(at) ?? []), ...signals]);
  }
  // The app gives the names to a function of a library.
  if (signalsAt.size === 0) signalsAt.set(code.search(new RegExp(`["'\`]${first}["'\`]`)), mentioned);
  return [...signalsAt].map(([index, signals]) => ({
    ...shutdownAt(source, index),
    signals: NAMES.filter((name) => signals.includes(name)),
  }));
}

/** Where a function of that name is defined. */
function definitionOf(name: string | undefined, code: string): number | null {
  if (name === undefined) return null;
  const asFunction = `(?:async\\s+)?function\\s+${escaped(name)}\\s*\\(`;
  const asVariable = `(?:const|let|var)\\s+${escaped(name)}\\s*(?::[^=\\n]+)?=\\s*(?:async\\b|function\\b|\\()`;
  const index = code.search(new RegExp(`(?<![\\w$.])(?:${asFunction}|${asVariable})`));
  return index === -1 ? null : index;
}

function shutdownAt(source: Source, index: number): Omit<Shutdown, "signals"> {
  const place = placeAt(source, index);
  const lines = source.code.split("\n");
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
    isStatement: /^process\b/.test(place.text) && !continuesStatement(place, source),
  };
}
