import { useEffect, useState } from "preact/hooks";

/** The browser forgets it with the tab. */
const PLACE = "signalbox-control-token";

/** `none`: the token is right or not needed. */
type Want = "none" | "missing" | "wrong";

let want: Want = "none";
let show: (want: Want) => void = () => {};

export const controlToken = (): string | null => sessionStorage.getItem(PLACE);

/** The emulator refused a call. @param token the token that the call had */
export function wantControlToken(token: string | null): void {
  // An earlier call can be refused after the reader has given the token.
  if (token !== controlToken()) return;
  sessionStorage.removeItem(PLACE);
  update(token === null && want !== "wrong" ? "missing" : "wrong");
}

export function giveControlToken(token: string): void {
  sessionStorage.setItem(PLACE, token);
  update("none");
}

/** Whether the reader must give a token. */
export function useControlTokenWant(): Want {
  const [shown, setShown] = useState(want);
  useEffect(() => {
    show = setShown;
    setShown(want);
  }, []);
  return shown;
}

function update(next: Want): void {
  want = next;
  show(next);
}
