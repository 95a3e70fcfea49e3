import { pino, type Logger } from "pino";

/** A pino logger at its most talkative, and the lines it wrote. */
export function logLines(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  return { logger, lines };
}
