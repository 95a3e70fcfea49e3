/** Text that a program prints in pieces, for those who wait for a part of it. */
export function watchText(ended: Promise<unknown>) {
  let text = "";
  const waiting = new Set<() => void>();
  return {
    text: () => text,
    add(piece: string | Buffer): void {
      text += String(piece);
      for (const look of waiting) look();
    },
    /** Resolves with what `find` finds in the text so far. Rejects when the program ends first. */
    until<Found>(find: (text: string) => Found | null | false, what: unknown): Promise<Found> {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const found = find(text);
          if (found !== null && found !== false) resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without ${String(what)}:\n${text}`)));
      });
    },
  };
}
