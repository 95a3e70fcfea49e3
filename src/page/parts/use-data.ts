import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

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
 * Loads when the component appears, and when `what` changes, which names what is loaded. An answer
 * that comes after a newer load began is dropped. For a view that must not show the previous data
 * at all, give the component another `key`.
 */
export function useData<T>(
  what: string | number,
  load: (signal: AbortSignal) => Promise<T>,
): Data<T> {
  const [settled, setSettled] = useState<Pick<Data<T>, "data" | "problem">>({
    data: undefined,
    problem: undefined,
  });
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const newest = useRef(load);
  useLayoutEffect(() => {
    newest.current = load;
  });
  useEffect(() => {
    const abort = new AbortController();
    setLoading(true);
    const settle = (next: Partial<typeof settled>): void => {
      if (abort.signal.aborted) return;
      setSettled((previous) => ({ ...previous, ...next }));
      setLoading(false);
    };
    newest.current(abort.signal).then(
      (data) => settle({ data, problem: undefined }),
      (problem: unknown) => settle({ problem }),
    );
    return () => abort.abort();
  }, [what, round]);
  const reload = useCallback(() => setRound((previous) => previous + 1), []);
  return { ...settled, isLoading, reload };
}
