import type { ServiceLocale } from "../../../api/locale.js";
import type { ServiceOptions } from "../../options/api-key.js";

/** What was typed after `signalbox register`. */
export interface RegisterOptions extends ServiceOptions {
  url: string;
  types?: string[];
  allTypes?: true;
  locale: ServiceLocale;
  secretFile: string;
  timeout: number;
  json?: true;
}
