import type { ServiceLocale } from "../api/locale.js";

/** What a locale that was asked for comes out as: Chinese in any spelling, and English for all else. */
export function resolveLocale(text: string): ServiceLocale {
  return /^zh(?:[-_]|$)/i.test(text) ? "zh-CN" : "en";
}
