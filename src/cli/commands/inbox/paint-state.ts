import type { EventState } from "../../../inbox/store.js";
import type { Paint } from "../../console/paint.js";

/** Red wants a person, yellow may, the rest goes by itself. */
export function paintState(state: EventState, paint: Paint): (text: string) => string {
  if (state === "dead") return paint.red;
  return state === "quarantined" ? paint.yellow : (text) => text;
}
