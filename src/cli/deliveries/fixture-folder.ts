import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseEvent } from "../../kit/senders/signals/parse-event.js";
import { environmentError, errorCode } from "../console/exit.js";
import { readBytes } from "../console/options.js";
import { AFTER_SIGNING } from "./after-signing.js";
import { PACKAGED_FIXTURES, isJsonObject } from "./event-source.js";

const expectation = z.strictObject({
  status: z.int().min(100).max(599),
  body: z.json().optional(),
  code: z.string().optional(),
});

/** One case of `deliveries.json`; `fixtures/README.md` says what each key means. */
const deliverySchema = z
  .strictObject({
    name: z.string().min(1),
    description: z.string().optional(),
    check: z.string().optional(),
    event: z.string().optional(),
    body: z.string().optional(),
    bodyBase64: z.base64().optional(),
    method: z
      .string()
      .regex(/^[A-Z]+$/)
      .optional(),
    secret: z.literal("other").optional(),
    skewSeconds: z.int().optional(),
    header: z.string().nullable().optional(),
    headerTwice: z.boolean().optional(),
    afterSigning: z.enum(Object.keys(AFTER_SIGNING) as [keyof typeof AFTER_SIGNING]).optional(),
    padToBytes: z.int().min(0).optional(),
    chunked: z.boolean().optional(),
    repeat: z.int().min(1).max(1000).optional(),
    conflict: z.boolean().optional(),
    expect: expectation,
    expectRepeat: expectation.optional(),
  })
  .refine(
    ({ event, body, bodyBase64 }) =>
      [event, body, bodyBase64].filter((part) => part !== undefined).length === 1,
    {
      message: "exactly one of event, body and bodyBase64 is needed",
    },
  );

const deliveriesSchema = z.strictObject({
  version: z.literal(1),
  deliveries: z.array(deliverySchema),
});

export type Delivery = z.infer<typeof deliverySchema>;

export interface FixtureFolder {
  /** Keys are paths without `.json`: `signals/price_increased`. */
  events: ReadonlyMap<string, Record<string, unknown>>;
  /** Each event once, then the cases of `deliveries.json`. */
  deliveries: readonly Delivery[];
}

const OTHER_FILES = /^(deliveries|signatures|(senders|samples|payloads|market)\/.*)\.json$/;

/**
 * Every `.json` file below the folder is an event, except `deliveries.json`, `signatures.json` and
 * those of other senders.
 */
export function readFixtureFolder(folder: string = PACKAGED_FIXTURES): FixtureFolder {
  const files = filesOf(folder);
  const events = new Map<string, Record<string, unknown>>();
  for (const file of files) {
    if (!file.endsWith(".json") || OTHER_FILES.test(file)) continue;
    events.set(file.slice(0, -".json".length), readEvent(join(folder, file)));
  }
  const cases = files.includes("deliveries.json") ? readDeliveries(folder) : [];
  for (const { name, event } of cases) {
    if (event !== undefined && !events.has(event)) {
      throw environmentError(
        `${join(folder, "deliveries.json")}: ${name} names the event ${event}, which does not exist`,
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
  const text = readBytes(path).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw environmentError(`cannot read ${path}: it is not JSON`);
  }
}

function readEvent(path: string): Record<string, unknown> {
  const event = readJson(path);
  if (isJsonObject(event)) return event;
  throw environmentError(`${path} is not an event: it must contain a JSON object`);
}

function readDeliveries(folder: string): Delivery[] {
  const path = join(folder, "deliveries.json");
  const parsed = deliveriesSchema.safeParse(readJson(path));
  if (parsed.success) return parsed.data.deliveries;
  const [issue] = parsed.error.issues;
  throw environmentError(`${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`);
}

/**
 * Makes a case from an event file. The expected answer is the one that signalbox gives to such an
 * event.
 */
function deliveryOf(name: string, event: Record<string, unknown>): Delivery {
  return { name, event: name, expect: { status: 200, body: answerTo(event) } };
}

function answerTo(event: Record<string, unknown>): Record<string, string | boolean> {
  const parsed = parseEvent(Buffer.from(JSON.stringify(event)));
  if (parsed.kind === "unusable") return { received: true, quarantined: true };
  return parsed.event.type === "webhook.verification"
    ? { challenge: "{challenge}" }
    : { received: true };
}
