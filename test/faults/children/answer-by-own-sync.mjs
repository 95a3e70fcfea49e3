/**
 * The mistake that the order of answers is against, kept to show that the power-loss suite would
 * notice it: a commit is answered when its own sync has succeeded, whatever becomes of the syncs
 * before it. A hook for `module.register`.
 */
const CHANGES = [
  ["newest = bothOf(own, newest)", "newest = own"],
  ["if (failure === null)", "if (error === null)"],
];

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith("/wal-sync.js")) return loaded;
  const source = CHANGES.reduce((text, [right, wrong]) => {
    if (!text.includes(right)) throw new Error(`wal-sync.js has no "${right}"`);
    return text.replace(right, wrong);
  }, String(loaded.source));
  return { ...loaded, source };
}
