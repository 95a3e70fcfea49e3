import type { ServiceLocale } from "../../api/locale.js";

/**
 * The locale that a free text stands for: `zh`, `zh-cn`, `zh_CN` and other texts that begin with the language Chinese are
 * `zh-CN`, everything else is `en` (the assumption `localeResolution`).
 */
export function resolveLocale(text: string): ServiceLocale {
  return /^zh(?:$|[-_])/i.test(text.trim()) ? "zh-CN" : "en";
}
