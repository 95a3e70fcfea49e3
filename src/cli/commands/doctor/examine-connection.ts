import type { Subject } from "./examination.js";
import { ok, type Finding } from "./finding.js";
import { verificationEvent } from "./probe.js";
import { noAnswer, noConnection } from "./transport-failures.js";

/** The first probe. Its answer is looked at by others. */
export async function examineConnection({ send, secrets, timeoutMs, facts }: Subject): Promise<Finding[]> {
  const reply = await send({ body: Buffer.from(JSON.stringify(verificationEvent())), key: secrets[0] });
  const { answer } = reply;
  if (answer.kind === "unreachable") return [noConnection(answer.code)];
  if (answer.kind === "broken") return [noAnswer(answer.code, timeoutMs)];
  facts.contact = reply;
  return [ok("connected", `a server answers: ${answer.status} in ${Math.round(reply.ms)} ms`)];
}
