import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEvent } from "../../events/parse-event.js";
import { errorCode } from "../console/error-code.js";
import { environmentError } from "../options/exit.js";
import { deliveriesSchema, type Delivery, type Expectation } from "./delivery-schema.js";
import { PACKAGED_FIXTURES } from "./packaged-fixtures.js";
import { isJsonObject } from "./restamp.js";

export interface FixtureFolder {
  /** By their path without `.json`: `signals/price_increased`. */
  events: ReadonlyMap<string, Record<string, unknown>>;
  /** Each event once, then the cases of `deliveries.json`. */
  deliveries: readonly Delivery[];
}

const NO_EVENTS = new Set(["deliveries.json", "signatures.json"]);

/** Every `.json` below the folder is an event, except `deliveries.json` and `signatures.json` at its top. */
export function readFixtureFolder(folder: string = PACKAGED_FIXTURES): FixtureFolder {
  const files = filesOf(folder);
  const events = new Map<string, Record<string, unknown>>();
  for (const file of files) {
    if (file.endsWith(".json") && !NO_EVENTS.has(file))
      events.set(file.slice(0, -".json".length), readEvent(folder, file));
  }
  const cases = files.includes("deliveries.json") ? readDeliveries(folder) : [];
  for (const { name, event } of cases) {
    if (event !== undefined && !events.has(event)) {
      throw environmentError(
        `${join(folder, "deliveries.json")}: ${name} names the event ${event}, which is not there`,
      );
    }
  }
  const deliveries = [...[...events].map(([name, event]) => deliveryOf(name, event)), ...cases];
  if (deliveries.length === 0) throw environmentError(`there is no event (*.json) in ${folder}`);
  return { events, deliveries };
}

function filesOf(folder: string): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return files.map((file) => file.replaceAll("\\", "/")).sort();
  } catch (error) {
    throw environmentError(`cannot read the folder ${folder} (${errorCode(error)})`);
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw environmentError(`cannot read ${path}: ${code ?? "it is no JSON"}`);
  }
}

function readEvent(folder: string, file: string): Record<string, unknown> {
  const event = readJson(join(folder, file));
  if (isJsonObject(event)) return event;
  throw environmentError(`${join(folder, file)} is no event: it must hold a JSON object`);
}

function readDeliveries(folder: string): Delivery[] {
  const path = join(folder, "deliveries.json");
  const parsed = deliveriesSchema.safeParse(readJson(path));
  if (parsed.success) return parsed.data.deliveries;
  const [issue] = parsed.error.issues;
  throw environmentError(`${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not understood"}`);
}

/** An event of a folder as a case: what a right receiver answers follows from the event. */
function deliveryOf(name: string, event: Record<string, unknown>): Delivery {
  return { name, event: name, expect: { status: 200, body: answerTo(event) } };
}

function answerTo(event: Record<string, unknown>): NonNullable<Expectation["body"]> {
  const parsed = parseEvent(Buffer.from(JSON.stringify(event)));
  if (parsed.kind === "unusable") return { received: true, quarantined: true };
  return parsed.event.type === "webhook.verification" ? { challenge: "{challenge}" } : { received: true };
}
