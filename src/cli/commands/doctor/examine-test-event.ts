import { describeAnswer } from "../../deliveries/compare-answer.js";
import { uniqueEventId } from "../../deliveries/unique.js";
import { CODE_FAULTS } from "./answer-faults.js";
import type { Subject } from "./examination.js";
import { ok, problem, type Finding } from "./finding.js";
import { isSuccess } from "./probe.js";

/** The one probe that is stored: nothing else shows whether the disk takes an event. */
export async function examineTestEvent({ send, facts }: Subject): Promise<Finding[]> {
  const event = {
    created_at: new Date().toISOString(),
    data: { message: "A test event of signalbox doctor." },
    id: uniqueEventId(),
    type: "webhook.test",
    version: "1",
  };
  const body = Buffer.from(JSON.stringify(event));
  const reply = await send({ body, key: facts.key as string | Buffer, mayBeStored: true });
  const answered = describeAnswer(reply.answer, false);
  if (isSuccess(reply.answer)) return [ok("event_stored", `a test event is acknowledged: ${answered}`)];
  const [, , mend] = CODE_FAULTS.get(reply.code ?? "") ?? [];
  const fallback = "Look at the receiver's log: it names the cause.";
  return [problem("event_not_stored", `a test event is answered ${answered}`, mend ?? fallback)];
}
