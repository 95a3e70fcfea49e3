/** Something to wait for that a test lets happen. */
export interface Latch {
  opened: Promise<void>;
  open: () => void;
}

export function latch(): Latch {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
