import { fileURLToPath } from "node:url";

/** The fixtures that come with the package; the same way up from `src/cli` and `dist/cli`. */
export const PACKAGED_FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
