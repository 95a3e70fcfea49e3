import type { SignalboxError } from "../../../errors.js";
import { problem, type Finding } from "./finding.js";
import type { FindingId } from "./finding-ids.js";

/** What the store would refuse to start with, as a finding. */
export function inOurWords(id: FindingId, { message, help }: SignalboxError): Finding {
  const found = message.slice(0, message.length - help.length).trim();
  return problem(id, found.replace(/\.$/, ""), help);
}
