import { useState } from "preact/hooks";
import { formatBytes } from "../../../base/text/format.js";
import { visibleLines } from "../../../base/text/visible-text.js";
import { address, CodeBlock, CopyButton, Panel } from "../../parts/index.js";
import { DEFAULT_SENDER } from "../../../kit/inbox/stored-events.js";
import type { EventAnswer } from "../inbox-api.js";
import { DEEP, isBranch, pathTo, readPayload } from "./read-payload.js";

/** The body of an event: JSON or a form as a tree, or a text. */
export function Payload({ event, of }: { event: EventAnswer; of: string }) {
  const { payload, isCut, bytes } = event;
  const [find, setFind] = useState("");
  const read = readPayload(event);
  const send = commandOf(event, "send");
  return (
    <Panel
      title="Payload"
      actions={
        bytes !== null && (
          <>
            {!isCut && isSafeToPaste(send) && /^[\w-]+$/.test(event.sender) && (
              <>
                <CopyButton of="the payload" text={payload ?? ""} />
                <CopyButton label="Copy as send" text={send} />
                <CopyButton label="Copy as cURL" text={`${commandOf(event, "sign")} --curl | sh`} />
              </>
            )}
            <a class="button small" href={address("api/bytes", { id: of })} download>
              Download
            </a>
          </>
        )
      }
    >
      <p class="muted">
        {bytes === null
          ? "It is deleted."
          : `${isCut ? "The beginning of " : ""}${formatBytes(bytes)}, ${read?.kind ?? "text"}`}
      </p>
      {read === undefined ? (
        payload !== null && <CodeBlock text={payload} label="Text" />
      ) : (
        <div class="stack tree mono">
          <input
            type="search"
            aria-label="Find in the payload"
            placeholder="Find"
            onInput={({ currentTarget }) => setFind(currentTarget.value.toLowerCase())}
          />
          <Tree value={read.value} name="" path="" find={find} />
        </div>
      )}
    </Panel>
  );
}

/** A control character could end the quotes, and a tab completes what stands before it. */
const isSafeToPaste = (text: string): boolean =>
  !text.includes("\t") && visibleLines(text) === text;

/** For a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Sends the event to a receiver on the reader's machine; the secret is none of it. */
function commandOf({ payload, sender, headers }: EventAnswer, command: string): string {
  const url = `http://localhost:3000/webhooks/${sender}`;
  const given = Object.entries(headers).map((header) => ` -H ${quoted(header.join(": "))}`);
  // Some senders sign the address.
  const of =
    sender === DEFAULT_SENDER ? "" : ` --sender ${sender} --public-url ${url}${given.join("")}`;
  return `printf %s ${quoted(payload ?? "")} > event.json\nnpx signalbox ${command} event.json --url ${url}${of}`;
}

/** A larger object or array is not open at first. */
const SMALL = 8000;
/** Of one object or array. */
const MOST = 1000;

interface TreeProps {
  name: string;
  value: unknown;
  path: string;
  /** In small letters: what has it is open, and the rest is left out. */
  find: string;
}

/** A value as a line, and what is in it as lines that fold. */
function Tree({ name, value, path, find }: TreeProps) {
  const json = JSON.stringify(value);
  const [isOpen, setOpen] = useState(path === "" || (json.length < SMALL && path.length < DEEP));
  const text = typeof value === "string" ? value : json;
  const isFound = name.toLowerCase().includes(find);
  if (!isFound && !json.toLowerCase().includes(find)) return null;
  const label = (
    <>
      {name}{" "}
      {isBranch(value) ? (
        `${json[0]}…${json.at(-1)}`
      ) : (
        <span class={text === json ? "busy" : "good"}>{json}</span>
      )}
    </>
  );
  const tools = path !== "" && (
    <span class="tools">
      <CopyButton label="path" of={path} text={path} />
      <CopyButton label="value" of={path} text={text} />
    </span>
  );
  if (!isBranch(value))
    return (
      <div>
        {label}
        {tools}
      </div>
    );
  const isShown = isOpen || (find !== "" && path.length < DEEP);
  const entries = Object.entries(value);
  return (
    <details open={isShown} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {tools}
      {isShown &&
        entries
          .slice(0, find === "" ? MOST : undefined)
          .map(([key, each]) => (
            <Tree
              key={key}
              name={key}
              value={each}
              path={pathTo(path, key, value)}
              find={isFound && name !== "" ? "" : find}
            />
          ))}
      {entries.length > MOST && `The first ${MOST} of ${entries.length}: search the others.`}
    </details>
  );
}
