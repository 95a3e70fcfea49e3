/**
 * Where the token of an emulator that asks for one is kept. The browser forgets it with the tab.
 */
const TOKEN = "signalbox-control-token";

export const keepControlToken = (token: string): void => sessionStorage.setItem(TOKEN, token);

/** What a request to the emulator sends of it. */
export function tokenHeaders(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}
