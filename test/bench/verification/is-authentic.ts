import { createHmac, timingSafeEqual } from "node:crypto";
import { SECRET } from "../servers/endpoint.js";

const TOLERANCE_SECONDS = 300;

/** The signature, checked as one writes it by hand. */
export function isAuthentic(header: string, body: Buffer): boolean {
  const [, timestamp = "", hex = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest();
  const given = Buffer.from(hex, "hex");
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  return (
    given.length === digest.length && timingSafeEqual(given, digest) && age <= TOLERANCE_SECONDS
  );
}
