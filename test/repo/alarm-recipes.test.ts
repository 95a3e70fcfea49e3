import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import ts from "typescript";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Alarm } from "../../src/kit/index.js";
import { readDocument } from "./markdown.js";

const BEGINS: Alarm = {
  kind: "quiet",
  phase: "begins",
  endpoint: "default",
  since: new Date(0),
  text: "Quiet: no new event since 1970-01-01 00:00:00 UTC.",
  key: "default/quiet/0",
};
const OVER: Alarm = { ...BEGINS, phase: "over", text: `Over: ${BEGINS.text}` };

type Recipe = Record<string, (...args: never[]) => unknown>;

/** The recipe under a heading of docs/alarms.md. @param replaced one address of it, by another */
async function recipeFor(heading: string, replaced = ["", ""]): Promise<Recipe> {
  const { blocks } = readDocument("docs/alarms.md");
  const { code = "" } = blocks.find((block) => block.heading === heading) ?? {};
  const [from = "", to = ""] = replaced;
  expect(code).toContain(from);
  const folder = mkdtempSync(join(tmpdir(), "alarm-recipe-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "recipe.mjs");
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  writeFileSync(file, ts.transpileModule(code.replace(from, to), { compilerOptions }).outputText);
  return (await import(file)) as Recipe;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Takes what is posted, and answers with the statuses in turn. */
async function standIn(...statuses: number[]) {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(statuses.shift() ?? 500, { connection: "close" }).end();
    });
  });
  return { url: `http://127.0.0.1:${await listening(server)}/`, bodies };
}

test("Slack gets the sentence, and what it refuses is a failure, so that it is told again", async () => {
  const { url, bodies } = await standIn(200, 200, 503);
  vi.stubEnv("SLACK_WEBHOOK_URL", url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { toSlack } = (await recipeFor("Slack")) as { toSlack: (alarm: Alarm) => Promise<void> };
  await toSlack(BEGINS);
  await toSlack(OVER);
  await expect(toSlack(BEGINS)).rejects.toThrow("Slack answered 503");
  expect(bodies.slice(0, 2)).toEqual([
    { text: `:red_circle: default: ${BEGINS.text}` },
    { text: `:large_green_circle: default: ${OVER.text}` },
  ]);
});

test("PagerDuty opens and closes one incident", async () => {
  const { url, bodies } = await standIn(202, 202, 429);
  vi.stubEnv("PAGERDUTY_ROUTING_KEY", "R1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const recipe = await recipeFor("PagerDuty", ["https://events.pagerduty.com/v2/enqueue", url]);
  const { toPagerDuty } = recipe as { toPagerDuty: (alarm: Alarm) => Promise<void> };
  await toPagerDuty(BEGINS);
  await toPagerDuty(OVER);
  await expect(toPagerDuty(OVER)).rejects.toThrow("PagerDuty answered 429");
  const incident = { routing_key: "R1", dedup_key: "default/quiet/0" };
  expect(bodies.slice(0, 2)).toMatchObject([
    {
      ...incident,
      event_action: "trigger",
      payload: { summary: BEGINS.text, component: "quiet", timestamp: "1970-01-01T00:00:00.000Z" },
    },
    { ...incident, event_action: "resolve" },
  ]);
});

/** A server that takes mail. */
async function startSmtp() {
  const mails: string[] = [];
  const server = createTcpServer((socket) => {
    let data: string[] | null = null;
    socket.write("220 here\r\n");
    createInterface({ input: socket }).on("line", (line) => {
      if (data !== null && line !== ".") data.push(line);
      else if (data !== null) {
        mails.push(data.join("\n"));
        data = null;
        socket.write("250 taken\r\n");
      } else if (line === "DATA") {
        data = [];
        socket.write("354 go on\r\n");
      } else if (line === "QUIT") socket.end("221 bye\r\n");
      else socket.write("250 fine\r\n");
    });
  });
  return { port: await listening(server), mails };
}

test("a mail has the sentence, and for a repeat the same message id", async () => {
  const { port, mails } = await startSmtp();
  type Mail = Record<"to" | "subject" | "text" | "messageId", string>;
  async function sendMail({ to, subject, text, messageId }: Mail): Promise<void> {
    const socket = connect(port, "127.0.0.1");
    const answers = createInterface({ input: socket })[Symbol.asyncIterator]();
    await answers.next();
    const mail = [`To: ${to}`, `Subject: ${subject}`, `Message-ID: ${messageId}`, "", text, "."];
    for (const line of [
      "HELO a",
      "MAIL FROM:<a@b>",
      `RCPT TO:<${to}>`,
      "DATA",
      mail.join("\r\n"),
    ]) {
      socket.write(`${line}\r\n`);
      await answers.next();
    }
    socket.end("QUIT\r\n");
  }
  type ToMail = (send: typeof sendMail, to: string) => (alarm: Alarm) => Promise<void>;
  const { toMail } = (await recipeFor("Mail")) as unknown as { toMail: ToMail };
  const onAlarm = toMail(sendMail, "ops@example.com");
  await onAlarm(BEGINS);
  await onAlarm(BEGINS);
  await onAlarm(OVER);
  expect(mails[0]).toBe(
    `To: ops@example.com\nSubject: signalbox default: quiet begins\nMessage-ID: <default.quiet.0.begins@signalbox>\n\n${BEGINS.text}\n\nSince 1970-01-01T00:00:00.000Z`,
  );
  expect(mails[1]).toBe(mails[0]);
  expect(mails[2]).toContain("<default.quiet.0.over@signalbox>");
});
