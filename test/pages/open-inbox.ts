import type { RequestListener } from "node:http";
import express from "express";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Receiver, ReceiverOptions } from "../../src/kit/index.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import { delivery, listen, startReceiver } from "../http/serve.js";
import { PAGE_MOUNT, strippingProxy } from "./serve-page.js";
import { openContext } from "./start-browser.js";

export interface OpenInbox {
  receiver: Receiver;
  page: Page;
  /** The address of the page, with its slash. */
  url: string;
  /** What went wrong in the browser: must be empty at the end of a test. */
  troubles: string[];
  /** Resolves when the event is accepted. */
  receive(event: object | string | Uint8Array): Promise<void>;
}

export interface OpenInboxOptions extends Partial<ReceiverOptions> {
  /** Serves the page behind a proxy that strips this path. */
  prefix?: string;
}

/**
 * A receiver at work, its page in Express, and a browser that shows it. All of it ends with the
 * test.
 */
export async function openInbox({ prefix, ...options }: OpenInboxOptions = {}): Promise<OpenInbox> {
  const receiver = await startReceiver(options);
  const listener = inboxPage(receiver, { authorize: "loopback" });
  const url =
    prefix === undefined
      ? `http://127.0.0.1:${await listen(express().use(PAGE_MOUNT, listener) as RequestListener)}${PAGE_MOUNT}/`
      : `${await strippingProxy(prefix, `http://127.0.0.1:${await listen(listener)}`)}/`;
  const { context, troubles } = await openContext();
  onTestFinished(() => context.close());
  // Less than that of a test, so that the test says what it waited for.
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  await page.goto(url);
  return {
    receiver,
    page,
    url,
    troubles,
    async receive(event) {
      const { status } = await receiver.handle({
        method: "POST",
        ...delivery(event, { now: options.clock?.now() ?? Date.now() }),
      });
      if (status !== 200) throw new Error(`the receiver answered ${status}`);
    },
  };
}
