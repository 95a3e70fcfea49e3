import type { JSX } from "preact";
import { formatCount } from "../../parts/format.js";
import { RequestProblem } from "../../parts/request.js";
import { useData, type Data } from "../../parts/use-data.js";
import { href } from "../../parts/use-route.js";
import type { Values } from "../action-form.js";
import { control, rest, type Account, type Answer } from "../control.js";
import { useDesk } from "../desk.js";

/** The session tokens of accounts, as in the service's own dashboard: rankings and search demand accept them instead of a key. */
const sessions = new Map<number, string>();

/** What one of the research operations answers. Values of the query that are empty are left out. */
export function useResearch<T>(path: string, values: Values): Data<T> {
  const { account, reload } = useDesk();
  const query = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  return useData(async () => {
    try {
      return await research<T>(account, path, query);
    } finally {
      // It is a counted call.
      reload();
    }
  }, [account.account_id, path, JSON.stringify(query)]);
}

async function research<T>({ account_id }: Account, path: string, query: Values): Promise<T> {
  const known = sessions.get(account_id);
  if (known !== undefined) {
    try {
      return await rest<T>("GET", path, { token: known, query });
    } catch (error) {
      // It has expired, or the emulator was reset.
      if (!(error instanceof RequestProblem && error.status === 401)) throw error;
    }
  }
  const { token } = await control<Answer<"createSession">>("POST", `/accounts/${account_id}/sessions`, {});
  sessions.set(account_id, token);
  return rest<T>("GET", path, { token, query });
}

interface PagesProps {
  pagination: { page: number; total_pages?: number | undefined; has_more: boolean };
  /** The view, and the rest of its address. */
  path: readonly string[];
  values: Values;
}

/** The links to the page before and the next one. */
export function Pages({ pagination: { page, total_pages, has_more }, path, values }: PagesProps): JSX.Element {
  const link = (to: number, label: string): JSX.Element => (
    <a class="button" href={href(path, { ...values, page: String(to) })}>
      {label}
    </a>
  );
  return (
    <nav class="toolbar" aria-label="Pages">
      {page > 1 && link(page - 1, "Previous")}
      {has_more && link(page + 1, "Next")}
      <span class="muted">
        Page {formatCount(page)}
        {total_pages !== undefined && ` of ${formatCount(total_pages)}`}
      </span>
    </nav>
  );
}
