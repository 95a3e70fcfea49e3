import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { usePage } from "./page-frame.js";

export interface Data<T> {
  /**
   * The newest answer. It stays while another one is loaded, and when that fails, so that nothing
   * flickers.
   */
  data: T | undefined;
  /** Why the newest load failed; undefined once a load has succeeded. */
  problem: unknown;
  isLoading: boolean;
  /** Loads again. */
  reload: () => void;
}

/**
 * Loads when the component appears, when `what` changes, which names what is loaded, and when the
 * version does. An answer that comes after a newer load began is dropped. For a view that must not
 * show the previous data at all, give the component another `key`.
 *
 * @param ownVersion instead of the page's
 */
export function useData<T>(
  what: string,
  load: (signal: AbortSignal) => Promise<T>,
  ownVersion?: number,
): Data<T> {
  const page = usePage();
  const version = ownVersion ?? page.version;
  const [settled, setSettled] = useState<Pick<Data<T>, "data" | "problem">>({
    data: undefined,
    problem: undefined,
  });
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const loadedAt = useRef(version);
  const newest = useRef({ load, version });
  useLayoutEffect(() => {
    newest.current = { load, version };
  });
  useEffect(() => {
    const abort = new AbortController();
    loadedAt.current = newest.current.version;
    setLoading(true);
    const settle = (next: Partial<typeof settled>): void => {
      if (abort.signal.aborted) return;
      setSettled((previous) => ({ ...previous, ...next }));
      setLoading(false);
    };
    newest.current.load(abort.signal).then(
      (data) => settle({ data, problem: undefined }),
      (problem: unknown) => settle({ problem }),
    );
    return () => abort.abort();
  }, [what, round]);
  const reload = useCallback(() => setRound((previous) => previous + 1), []);
  // A load that runs is not dropped, however often something changes.
  useEffect(() => {
    if (!isLoading && loadedAt.current !== version) reload();
  }, [isLoading, version, reload]);
  return { ...settled, isLoading, reload };
}
