import { posix } from "node:path";
import { echoed } from "../../console/printable.js";
import { EXPRESS_CALL, type App } from "./read-app.js";

/** A line that makes the app and does nothing else. */
const CREATION = new RegExp(
  `^\\s*(?:export )?(?:(?:const|let|var) )?((?:this\\.)?[\\w$]+)(?:: \\w+)? = ${EXPRESS_CALL.source};$`,
);

/**
 * What the developer adds to the app, in this order. The file and the line are named only where
 * there is no doubt: if the app is made once, on a line of its own.
 *
 * @param names what the new router exports, where it is mounted, and its path from the app's
 * folder, without its extension
 */
export function linesToAdd(
  { creations, isLazy, isRequiring, importExtension, handlesSigterm }: App,
  { receiver, mountPath, router }: { receiver: string; mountPath: string; router: string },
) {
  const [first] = creations;
  const found = creations.length === 1 ? CREATION.exec(first?.text ?? "") : null;
  const place = found && first ? { file: first.file, line: first.line, at: found[0].trim() } : null;
  const [, variable = "app"] = found ?? [];

  const path = posix.relative(posix.dirname(first?.file ?? "app"), router);
  const module = `"${path.startsWith(".") ? path : `./${path}`}${importExtension}"`;
  const load = `import(${module}).then(({ ${receiver} }) => ${receiver}.`;
  const call = (method: string): string =>
    isLazy ? `${load}${method}())` : `${receiver}.${method}()`;
  const text = isRequiring
    ? `const { ${receiver} } = require(${module});`
    : `import { ${receiver} } from ${module};`;
  const use = `${variable}.use("${mountPath}", `;
  const mount = isLazy
    ? [`${use}(req, res, next) => {`, `  ${load}router(req, res, next), next);`, `});`]
    : [`${use}${receiver}.router);`];
  const start = [
    `${call("start")}.catch((error) => {`,
    "  console.error(error);",
    "  process.exit(1);",
    "});",
  ];
  const close = handlesSigterm
    ? [
        "// In the function that runs at SIGTERM, before process.exit(). It has to be async:",
        `await ${call("close")};`,
      ]
    : [
        'process.once("SIGTERM", () => {',
        `  ${call("close")}.then(() => process.exit(0), () => process.exit(1));`,
        "});",
      ];
  const line =
    place === null ? "the line that makes your app" : `line ${place.line} (${echoed(place.at)})`;
  const where = `below ${line}${place === null ? "" : ` of ${echoed(place.file)}`}`;
  return [
    ...(isLazy
      ? []
      : [
          {
            purpose: "Import the receiver in the file that makes your app",
            place: null,
            lines: [text],
          },
        ]),
    {
      purpose: `Mount it in front of all body parsers, for the exact bytes are signed: ${where}`,
      place,
      lines: mount,
    },
    { purpose: "Start it where your app starts to listen", place: null, lines: start },
    { purpose: "Close it at SIGTERM", place: null, lines: close },
  ];
}
