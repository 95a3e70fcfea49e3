import { expect, test } from "vitest";
import * as senders from "../../../../src/kit/senders/index.js";
import { SENDERS, type Factory } from "../../../../src/kit/senders/records.js";
import { errorOf } from "../../signalbox-error-of.js";

const makers = { ...senders } as Record<Factory, (options: never) => unknown>;

test.each(SENDERS)("$name refuses an option that it does not have", ({ factory }) => {
  const { code, message } = errorOf(() => makers[factory]({ tolerence: 1 } as never));
  expect(code).toBe("option_unknown");
  expect(message).toMatch(/ has no option "tolerence"\. (Known are \w|It takes none\.)/);
});
