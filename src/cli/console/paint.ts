const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** Colours text, or leaves it as it is if the output is no terminal. */
export type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

export function createPaint(isOn: boolean): Paint {
  const entries = Object.entries(CODES).map(([name, [on, off]]) => [
    name,
    (text: string) => (isOn ? `\u001b[${on}m${text}\u001b[${off}m` : text),
  ]);
  return Object.fromEntries(entries) as Paint;
}
