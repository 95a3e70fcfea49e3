import { builtInSender } from "../../kit/senders/built-in.js";
import type { AnySender } from "../../kit/senders/engine/sender.js";
import { recordOf, type NeededOption, type SenderName } from "../../kit/senders/records.js";
import { samplesOf } from "../../kit/senders/samples.js";
import { secretVariable } from "../console/options.js";

/** What a text of `templates/` is filled with. */
export interface Marks {
  /** The words whose parts are kept. */
  words: readonly string[];
  values: Readonly<Record<string, string>>;
  /** The variables of the environment that the sender needs, beside its secret. */
  variables: readonly NeededOption[];
}

/**
 * Fills the marks of a text:
 *
 * - what stands between `if WORD` and `end WORD`, each a comment on a line of its own, and a line
 *   with `{{if WORD}}`, is kept with that word;
 * - a line with `{{variable}}` is written for each variable, with its `{{local}}` and `{{is}}`;
 * - `{{name}}` is a value, and so is `__name__`, where TypeScript wants an identifier. The cells of
 *   a table stay as wide as they are.
 */
export function fillTemplate(text: string, { words, values, variables }: Marks): string {
  const kept = keepBlocks(text, words).split("\n");
  const lines = kept.flatMap((line) => {
    const [mark = "", word = ""] = / ?\{\{if (\w+)\}\}/.exec(line) ?? [];
    if (mark !== "" && !words.includes(word)) return [];
    const rest = line.replace(mark, " ".repeat(mark.length)).trimEnd();
    const isRepeated = /\{\{variable\}\}|__variable__/.test(rest);
    const all = isRepeated ? variables.map((variable) => ({ ...values, ...variable })) : [values];
    return all.map((each) => fillLine(rest, each));
  });
  return lines.join("\n").replaceAll(/\n{3,}/g, "\n\n");
}

function keepBlocks(text: string, words: readonly string[]): string {
  return text.replaceAll(
    /^[^\w\n]*if (\w+)\b[^\w\n]*\n([^]*?)^[^\w\n]*end \1\b.*\n/gm,
    (_all, word: string, part: string) => (words.includes(word) ? keepBlocks(part, words) : ""),
  );
}

function fillLine(line: string, values: Readonly<Record<string, string>>): string {
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}|__([A-Za-z]+)__/g, (mark, name?: string, identifier = "") => {
      const value = values[name ?? identifier];
      if (value === undefined) throw new Error(`a template has the unknown mark ${mark}`);
      return value;
    });
  if (!line.startsWith("|")) return fill(line);
  const cells = line.split("|").map((cell) => {
    const filled = fill(cell);
    return filled === cell ? cell : `${filled.trimEnd()} `.padEnd(cell.length);
  });
  return cells.join("|");
}

/** The time of the sample in the tests of the templates, of which its ids are made. */
const SAMPLE_TIME = Date.UTC(2026, 0, 1);

/** The marks of a receiver of signals, or of the events of another sender. */
export function marksFor(sender: SenderName | undefined): Marks {
  if (sender === undefined) return { words: ["signals"], values: OF_SIGNALS, variables: [] };
  const { factory, page, eventType, needs, forward } = recordOf(sender);
  const variables = Object.values(needs);
  const prefix = constantOf(sender);
  const optionsOf = (value: (option: NeededOption) => string): string => {
    const pairs = Object.entries(needs).map(([name, option]) => `${name}: ${value(option)}`);
    return pairs.length === 0 ? "" : `{ ${pairs.join(", ")} }`;
  };
  const { body, headers = {} } = (builtInSender(sender) as AnySender).sample(SAMPLE_TIME);
  const isNamed = /^\w+$/.test(eventType);
  const url = needs["publicUrl"];
  const values = {
    sender,
    factory,
    page,
    eventType,
    handler: "onEvent",
    handlerFile: "on-event",
    event: "event",
    events: "events",
    anEvent: "an event",
    AnEvent: "An event",
    received: `webhooks of [${sender}](${page})`,
    ofEndpoint: `--endpoint ${sender} `,
    secret: secretVariable(sender),
    PREFIX: prefix,
    options: optionsOf(({ variable }) => `config.${variable}`),
    variableOptions: optionsOf(({ variable }) => variable),
    localOptions: optionsOf(({ local }) => JSON.stringify(local)),
    publicUrl: url === undefined ? "" : `--public-url ${url.local} `,
    sampleType: samplesOf(sender)[0]?.type ?? "sample",
    forward: forward?.(`localhost:3000/webhooks/${sender}`) ?? "",
    forwardToPort: forward?.(`localhost:\${port}/webhooks/${sender}`) ?? "",
    sampleBody: JSON.stringify(body, null, 2),
    sampleHeaders: JSON.stringify(headers),
    receiver: `${factory}Receiver`,
    create: `create${factory[0]?.toUpperCase()}${factory.slice(1)}Receiver`,
    Options: "Options",
  };
  const words = ["sender", forward === undefined ? "elsewhere" : "forward"];
  if (isNamed) words.push("namedType");
  return { words: [...words, sender], values, variables };
}

const constantOf = (sender: string): string =>
  sender
    .replace(/-webhooks$/, "")
    .replaceAll("-", "_")
    .toUpperCase();

const OF_SIGNALS = {
  sender: "signals",
  handler: "onSignal",
  handlerFile: "on-signal",
  event: "signal",
  events: "signals",
  anEvent: "a signal",
  AnEvent: "A signal",
  received: 'the signed webhook events ("signals") of a Product Intelligence service',
  ofEndpoint: "",
  PREFIX: "SIGNALS",
  receiver: "signals",
  create: "createSignals",
  Options: "ReceiverOptions",
};
