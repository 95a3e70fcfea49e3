import type { ServiceLocale } from "../../contract/locale.js";

/**
 * Finds the service's locale for any text: `zh-CN` for `zh`, `zh_CN`, `zh-TW` and similar texts,
 * otherwise `en` (the assumption `localeResolution`).
 */
export function resolveLocale(text: string): ServiceLocale {
  return /^zh(?:$|[-_])/i.test(text.trim()) ? "zh-CN" : "en";
}
