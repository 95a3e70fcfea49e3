import type { EventState, InboxEntry } from "../../../inbox/store.js";
import type { OpenInbox } from "./inbox-options.js";

const PAGE = 500;

/** All entries of the endpoint, page by page: an inbox may be larger than memory. */
export async function* listPages(
  { store, endpoint }: OpenInbox,
  { state }: { state?: EventState | undefined },
): AsyncGenerator<InboxEntry[]> {
  let afterSeq = 0;
  for (;;) {
    const page = await store.list({ endpoint, ...(state && { state }), afterSeq, limit: PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}
