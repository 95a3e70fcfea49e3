const NAME = "[A-Za-z_][\\w.-]*";
const TEXT = /^(?:[^<&]|&(?:amp|lt|gt|quot|apos);)*$/;
/** The characters of XML 1.0, turned round. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const TOKEN = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|([^<]+)`, "y");

export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: XmlElement[];
}

/** Reads a document of elements, attributes and text; throws at the first thing that is not well formed. */
export function readXml(document: string): XmlElement {
  const forbidden = FORBIDDEN.exec(document);
  if (forbidden !== null) throw new Error(`a character that XML cannot hold, at ${forbidden.index}`);
  const source = document.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  const root: XmlElement = { name: "", attributes: {}, text: "", children: [] };
  const open = [root];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new Error(`not well formed at: ${source.slice(at, at + 80)}`);
    const [, slash, name = "", attributes = "", empty, text] = match;
    const parent = open.at(-1) as XmlElement;
    if (text !== undefined) parent.text += unescaped(text);
    else if (slash === "/") {
      if (open.pop()?.name !== name || open.length === 0) throw new Error(`</${name}> closes nothing`);
    } else {
      const element = { name, attributes: attributesIn(attributes), text: "", children: [] };
      parent.children.push(element);
      if (empty !== "/") open.push(element);
    }
  }
  const [only, ...others] = root.children;
  if (open.length > 1 || only === undefined || others.length > 0) throw new Error("there is not one root, closed");
  return only;
}

function attributesIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(new RegExp(`(${NAME})="([^"]*)"`, "g"))];
  const names = pairs.map(([, name]) => name);
  if (new Set(names).size !== names.length) throw new Error(`an attribute twice: ${text}`);
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, unescaped(value)]));
}

function unescaped(text: string): string {
  if (!TEXT.test(text)) throw new Error(`not escaped: ${text}`);
  const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replaceAll(/&(\w+);/g, (_all, name: keyof typeof entities) => entities[name]);
}
