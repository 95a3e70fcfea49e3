/** Texts that a sender or a callback can choose, and that must run nothing and hide nothing. */
export const HOSTILE: readonly string[] = [
  `<script>globalThis.attacked = "script"</script>`,
  `"><img src=x onerror="globalThis.attacked='image'">`,
  `<svg onload=globalThis.attacked=1><style>*{display:none}</style>`,
  `javascript:globalThis.attacked=2`,
  "\u202Egpj.exe\u202C", // right-to-left override
  "\u0007\u001B[2J\u0008", // terminal controls
  "zero\u200Bwidth\uFEFF",
  "long".repeat(400),
];

/** How a page shows them. The last has no end. */
export const SHOWN: readonly string[] = [
  ...HOSTILE.slice(0, 4),
  "\\u202egpj.exe\\u202c",
  "\\u0007\\u001b[2J\\u0008",
  "zero\\u200bwidth\\ufeff",
];
