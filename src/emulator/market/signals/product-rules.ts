import type { KnownSignalType } from "../../../events/signal-types.js";
import { percent } from "./format-values.js";
import { defineRule, type SignalRule, type Wording } from "./signal-rule.js";

/** What products that were listed before introduced in this month: how many, and the first of them. */
const introduced = (kind: string): string => `SELECT f.tool_id, 0 AS before_value, count(*) AS after_value,
    f.name_en AS item_en, f.name_zh AS item_zh, min(f.feature_id) AS first_feature
  FROM feature f JOIN product p ON p.tool_id = f.tool_id AND p.listed_at < @monthStart
  WHERE f.kind = '${kind}' AND f.from_month = @month GROUP BY f.tool_id`;

interface Item {
  item_en: string;
  item_zh: string;
}

const introduction = (
  signalType: KnownSignalType,
  kind: "feature" | "model" | "api" | "mcp",
  unit: string,
  words: (name: string, item: Item, now: { en: string; zh: string }) => { en: Wording; zh: Wording },
): SignalRule =>
  defineRule<Item>({ signalType, sql: introduced(kind), unit, words: (row, { now }) => words(row.name, row, now) });

const changed = (
  kind: "domain" | "tagline",
  before: number,
): string => `SELECT tool_id, ${before} AS before_value, share / 100.0 AS after_value,
    before_text, after_text FROM product_change WHERE month = @month AND kind = '${kind}'`;

interface Texts {
  before_text: string;
  after_text: string;
}

/** Signals about the products themselves. */
export const PRODUCT_RULES: readonly SignalRule[] = [
  introduction("new_feature", "feature", "features", (name, item, now) => ({
    en: [
      `${name} introduced ${item.item_en}`,
      `A post on the official site of ${name} introduces ${item.item_en} in ${now.en}.`,
      "Blog post and changelog entry of the maker.",
    ],
    zh: [`${name}推出${item.item_zh}`, `${now.zh}，${name}官方网站发文介绍${item.item_zh}。`, "官方博客与更新日志。"],
  })),
  introduction("new_model", "model", "models", (name, item, now) => ({
    en: [
      `${name} released the model ${item.item_en}`,
      `${item.item_en} is available to users of ${name} since ${now.en}.`,
      "Announcement and model card on the maker's own site.",
    ],
    zh: [`${name}发布模型${item.item_zh}`, `${now.zh}起，${name}的用户可使用${item.item_zh}。`, "官方公告与模型说明。"],
  })),
  introduction("api_added", "api", "apis", (name, _item, now) => ({
    en: [
      `${name} launched a public API`,
      `${name} documents a public API with keys and limits since ${now.en}.`,
      "Documentation that the capture of the month before does not have.",
    ],
    zh: [`${name}开放API`, `${now.zh}起，${name}提供带密钥与限额说明的公开API文档。`, "上个月的页面中没有该文档。"],
  })),
  introduction("mcp_added", "mcp", "mcp_servers", (name, _item, now) => ({
    en: [
      `${name} now supports MCP`,
      `The help centre of ${name} describes a remote MCP server since ${now.en}.`,
      "Help article and an address that answers the handshake.",
    ],
    zh: [`${name}支持MCP`, `${now.zh}起，${name}的帮助中心介绍其远程MCP服务器。`, "帮助文章，且地址可完成握手。"],
  })),
  defineRule<Texts>({
    signalType: "positioning_shift",
    sql: changed("tagline", 1),
    unit: "wording_share",
    direction: "changed",
    words: (row, { now }) => ({
      en: [
        `${row.name} changed its positioning`,
        `The homepage said "${row.before_text}" and says "${row.after_text}" in ${now.en}: ${percent(row.after_value)} of its wording is as it was.`,
        "Headline and benefit blocks of the homepage in two captures.",
      ],
      zh: [
        `${row.name}调整了产品定位`,
        `${now.zh}，${row.name}首页的标语已更换，仅有${percent(row.after_value)}的文字与之前相同。`,
        "对比两次抓取的首页标题与卖点。",
      ],
    }),
  }),
  defineRule({
    signalType: "product_launch",
    sql: `SELECT tool_id, 0 AS before_value, 1 AS after_value FROM product
      WHERE launched_month = @month AND (discontinued_month IS NULL OR discontinued_month > @month)`,
    unit: "products",
    words: (row, { now }) => ({
      en: [
        `${row.name} has launched`,
        `The maker of ${row.name}, a product of ${row.sector_en}, announced its launch in ${now.en}.`,
        `Announcement on ${row.domain}; sign-up works without an invitation.`,
      ],
      zh: [
        `${row.name}正式上线`,
        `${now.zh}，${row.sector_zh}产品${row.name}的开发方宣布上线。`,
        `${row.domain}上的公告；无需邀请即可注册。`,
      ],
    }),
  }),
  defineRule<Texts>({
    signalType: "primary_domain_changed",
    sql: changed("domain", 0),
    unit: "redirected_share",
    direction: "changed",
    words: (row, { now }) => ({
      en: [
        `${row.name} moved to ${row.after_text}`,
        `${percent(row.after_value)} of the checked addresses on ${row.before_text} redirect permanently to ${row.after_text} since ${now.en}.`,
        `Addresses of ${row.before_text} checked in two months; canonical links agree.`,
      ],
      zh: [
        `${row.name}迁移至${row.after_text}`,
        `${now.zh}起，${row.before_text}上${percent(row.after_value)}的抽查网址永久重定向到${row.after_text}。`,
        `两个月对${row.before_text}网址的抽查，规范链接一致。`,
      ],
    }),
  }),
  defineRule({
    signalType: "product_discontinued",
    sql: "SELECT tool_id, 1 AS before_value, 0 AS after_value FROM product WHERE discontinued_month = @month",
    unit: "products",
    words: (row, { now }) => ({
      en: [
        `${row.name} has been shut down`,
        `The maker of ${row.name} said in ${now.en} that the product is no longer offered.`,
        `Notice on ${row.domain}; the sign-up form has been taken down.`,
      ],
      zh: [
        `${row.name}停止服务`,
        `${now.zh}，${row.name}的开发方宣布不再提供该产品。`,
        `${row.domain}上的公告，注册入口已关闭。`,
      ],
    }),
  }),
];
