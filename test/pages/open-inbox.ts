import { PermanentFailure, type ReceiverOptions } from "../../src/kit/index.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { delivery } from "../http/serve.js";
import { openReader } from "./open-reader.js";
import { PAGE_MOUNT, servePage, strippingProxy } from "./serve-page.js";

export interface OpenInboxOptions extends Partial<ReceiverOptions> {
  /** Serves the page behind a proxy that strips this path. */
  prefix?: string;
  mayLog?: RegExp;
}

/**
 * A receiver at work, its page in Express, and a browser that shows it. All of it ends with the
 * test.
 */
export async function openInbox(options: OpenInboxOptions = {}) {
  const { prefix, mayLog, ...receiverOptions } = options;
  let isBroken = true;
  const { receiver, port } = await servePage(
    {
      handoff: { concurrency: 50 },
      onSignal() {
        if (isBroken) throw new PermanentFailure("no such tenant");
      },
      ...receiverOptions,
    },
    { authorize: "loopback" },
  );
  const mount = `http://127.0.0.1:${port}${PAGE_MOUNT}`;
  const url = `${prefix === undefined ? mount : await strippingProxy(prefix, mount)}/`;
  const reader = await openReader(mayLog && { mayLog });
  await reader.page.goto(url);

  /** Resolves when the event is accepted. */
  async function receive(event: object | string): Promise<void> {
    const { status } = await receiver.handle({ method: "POST", ...delivery(event) });
    if (status !== 200) throw new Error(`the receiver answered ${status}`);
  }
  return {
    ...reader,
    receiver,
    /** The address of the page, with its slash. */
    url,
    /** Shows the view with this address. */
    show: async (view: string) => void (await reader.page.goto(`${url}#/${view}`)),
    async search(terms: string) {
      await reader.fill("Search events", terms);
      await reader.press("Enter");
    },
    /** The link of an event in the list. */
    eventLink: (id: string) => reader.page.locator(`tbody a[title="${id}"]`),
    /** Waits until so many events are in the state, as the choice of states has it. */
    seeCount: (state: string, count: number) =>
      reader.page
        .getByRole("combobox", { name: "State" })
        .locator("option", { hasText: `${state} (${count})` })
        .waitFor({ state: "attached" }),
    receive,
    /** Resolves when a signal with each of the ids is dead. */
    async receiveDead(ids: readonly string[]) {
      const areDead = new Promise<void>((resolve) => {
        let left = ids.length;
        receiver.on("dead", () => void ((left -= 1) === 0 && resolve()));
      });
      await Promise.all(ids.map((id) => receive(signalEvent("price_increased", { id }))));
      await areDead;
    },
    /** The callback refuses every signal until then. */
    mend: () => void (isBroken = false),
  };
}
