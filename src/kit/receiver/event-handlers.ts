import type { HandoffCallback } from "../inbox/handoff.js";
import type { EventFacts } from "../senders/engine/sender.js";

/**
 * `onEvent` of a receiver with a sender: one function, or a function for each type. A key is a
 * type, a type and subtype with a dot between them (`"issues.opened"`), or the beginning of these
 * with a star (`"charge.*"`, `"orders/*"`, `"*"`). The whole name counts first, then the type, then
 * the longest beginning. An event that has no function is stored as `done`.
 */
export type OnEvent<Events extends object> =
  HandoffCallback<Events[keyof Events]> | EventHandlers<Events>;

/** A function for each type of event. */
export type EventHandlers<Events extends object> = string extends keyof Events
  ? Readonly<Record<string, HandoffCallback<Events[keyof Events]>>>
  : { readonly [Pattern in PatternOf<Events>]?: HandoffCallback<EventOf<Events, Pattern>> };

type TypeOf<Events> = keyof Events & string;

type NameOf<Events> = {
  [Type in TypeOf<Events>]: Type | SubtypeName<Type, Events[Type]>;
}[TypeOf<Events>];

type SubtypeName<Type extends string, Event> = Event extends { action: infer Action extends string }
  ? `${Type}.${Action}`
  : never;

type PatternOf<Events> = NameOf<Events> | BeginningOf<NameOf<Events>> | "*";

type BeginningOf<Name> = Name extends `${infer First}.${infer Rest}`
  ? `${First}.*` | `${First}.${BeginningOf<Rest>}`
  : never;

type EventOf<Events, Pattern> = Pattern extends "*"
  ? Events[keyof Events]
  : Pattern extends keyof Events
    ? Events[Pattern]
    : Pattern extends `${infer Beginning}*`
      ? {
          [Type in TypeOf<Events>]: Type extends `${Beginning}${string}`
            ? Events[Type]
            : `${Type}.` extends Beginning
              ? Events[Type]
              : never;
        }[TypeOf<Events>]
      : {
          [Type in TypeOf<Events>]: Pattern extends `${Type}.${infer Action}`
            ? Extract<Events[Type], { action: Action }>
            : never;
        }[TypeOf<Events>];

/** Finds the callback of an event; null when there is none. */
export type FindCallback = (
  event: Pick<EventFacts, "type" | "subtype">,
) => HandoffCallback<never> | null;

/** @param onEvent one function, or an object with one for each type */
export function findCallbackIn(
  onEvent: HandoffCallback<never> | Readonly<Record<string, HandoffCallback<never> | undefined>>,
): FindCallback {
  if (typeof onEvent === "function") return () => onEvent;
  // A Map, because in an object the type "constructor" would be found.
  const byName = new Map<string, HandoffCallback<never>>();
  const byBeginning: { beginning: string; callback: HandoffCallback<never> }[] = [];
  for (const [pattern, callback] of Object.entries(onEvent)) {
    if (callback === undefined) continue;
    if (pattern.endsWith("*")) byBeginning.push({ beginning: pattern.slice(0, -1), callback });
    else byName.set(pattern, callback);
  }
  byBeginning.sort((a, b) => b.beginning.length - a.beginning.length);
  return ({ type, subtype }) => {
    const name = subtype === null ? type : `${type}.${subtype}`;
    return (
      byName.get(name) ??
      byName.get(type) ??
      byBeginning.find(({ beginning }) => name.startsWith(beginning))?.callback ??
      null
    );
  };
}
