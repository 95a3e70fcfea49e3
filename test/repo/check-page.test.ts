import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { expect, test } from "vitest";
import { captureRawBody, createReceiver } from "../../src/kit/index.js";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { callCli } from "../cli/call-cli.js";
import { rowsOf } from "../cli/run-cli.js";
import { readDocument } from "./markdown.js";

interface Row {
  ok: boolean;
}

const SKIPPING: readonly (readonly [words: string, parser: RequestHandler])[] = [
  ["json-null", express.json({ verify: captureRawBody, limit: "256kb" })],
  ["signals --skip too-many", express.raw({ type: () => true, limit: "256kb" })],
];

test.each(SKIPPING)(
  "the replay that the page fits to another parser passes behind it: %s",
  async (words, parser) => {
    const { code } = readDocument("docs/check.md").block(words);
    const skipped = [...code.matchAll(/--skip '?([^\s']+)'?/g)].map((match) => match[1] ?? "");
    expect(skipped).not.toEqual([]);
    const receiver = createReceiver({
      secrets: "s",
      store: memoryStore(),
      onSignal: () => undefined,
      logger: false,
    });
    await receiver.start();
    const failed: ErrorRequestHandler = (error: { status: number }, _request, response, _next) => {
      response.status(error.status).end();
    };
    const server = express().use(parser, expressHandler(receiver), failed).listen(0);
    try {
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const replay = async (...args: string[]): Promise<Row[]> =>
        rowsOf<Row>(
          await callCli([
            "replay",
            "--url",
            url,
            "--secret",
            "s",
            "--json",
            "--concurrency",
            "8",
            ...args,
          ]),
        );
      const others = await replay(...skipped.flatMap((pattern) => ["--skip", pattern]));
      expect(others.length).toBeGreaterThan(100);
      expect(others.filter(({ ok }) => !ok)).toEqual([]);
      // Each of the patterns is needed, and none of them hides what would pass.
      for (const pattern of skipped) {
        expect((await replay("--only", pattern)).filter(({ ok }) => ok)).toEqual([]);
      }
    } finally {
      server.close();
      await receiver.close({ graceMs: 0 });
    }
  },
);
