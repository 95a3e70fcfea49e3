const PIECE = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** The same text with blanks for comments, so that places in it stay. Strings that hold `//` are left alone. */
export function stripComments(text: string): string {
  return text.replaceAll(PIECE, (piece) => (piece.startsWith("/") ? piece.replaceAll(/[^\n]/g, " ") : piece));
}
