import type { Field } from "../../browser-parts/action-form.js";

/** A product or category. */
export const SLUG = { name: "slug", placeholder: "A slug", isRequired: true, width: "grows" } as const;

export const API_KEY: Field = { name: "key", label: "API key", type: "password", isRequired: true, width: "grows" };

/** The field of a language that the service has. */
export const LOCALE: Field = {
  name: "locale",
  label: "Language",
  choices: [
    ["en", "English"],
    ["zh-CN", "Chinese"],
  ],
};
