import type { Text } from "../format-values.js";
import { pairs, type Bilingual } from "./sectors.js";

/** The first parts of product names. */
export const BEGINNINGS: readonly string[] = (
  "Lark Moss Fern Cobalt Juniper Ember Quartz Willow Raven Heron Maple Cedar Amber Indigo Velvet Onyx Lumen Nimbus Pebble Harbor " +
  "Tidal Alder Birch Clover Dapple Falcon Garnet Hazel Iris Jasper Kestrel Lotus Marble Nectar Opal Poppy Quill Rowan Saffron Thistle " +
  "Umber Vesper Wren Yarrow Zephyr Aspen Basil Coral Drift Elm Flint Gale Hollow Ivory Jolly Kite Lunar Mellow Noble Otter " +
  "Plum Quiet River Silver Timber Upland Violet Wander Yonder Zinc Arbor Bramble Cinder Dune Echo Fable Glint Hearth Islet Jade " +
  "Keen Lantern Meadow North Orbit Prism Quince Ridge Sable Topaz Union Vale Winter Xylo Young Zest Acorn Bright Copper Delta"
).split(" ");

/** A beginning and an ending make a Chinese name. The slug and the domain use their romanised forms. */
export const HANZI_BEGINNINGS: readonly string[] =
  "云yun 星xing 墨mo 灵ling 千qian 青qing 万wan 智zhi 天tian 海hai 明ming 夏xia 小xiao 飞fei 极ji 慧hui 思si 元yuan 紫zi 山shan 白bai 秋qiu 鹿lu 晨chen".split(
    " ",
  );
export const HANZI_ENDINGS: readonly string[] =
  "言yan 画hua 影ying 声sheng 问wen 写xie 帆fan 桥qiao 图tu 舟zhou 境jing 笔bi 匠jiang 林lin 谷gu 眸mou 芽ya 乐le 课ke 典dian 舍she 道dao 岸an 台tai".split(
    " ",
  );

/** The templates of taglines. Their placeholders are the fields of `ProductKind`, and `{reader}` for its audience. */
export const TAGLINES: readonly Text[] = [
  ["{does}, for {reader}", "{does}，专为{reader}"],
  ["{noun} for {reader}, {benefit}", "面向{reader}的{noun}，{benefit}"],
  ["The {noun} for {reader}", "为{reader}打造的{noun}"],
  ["Made for {reader}: {does}", "专为{reader}打造：{does}"],
  ["Helps {reader} {does}", "帮助{reader}{does}"],
  ["Where {reader} {does}", "{reader}都在用的{noun}"],
  ["{noun} with {feature}, for {reader}", "支持{feature}的{noun}，专为{reader}设计"],
  ["{feature} and {second} for {reader}", "{feature}、{second}，{reader}一站搞定"],
];

/** The templates of descriptions: the first sentence, which is the short description, and the rest. */
export const DESCRIPTIONS: readonly { short: Text; rest: Text }[] = [
  {
    short: ["{name} is {a} {noun} for {reader}.", "{name}是面向{reader}的{noun}。"],
    rest: [
      "Use it to {does}, {benefit}. It comes with {feature} and {second}.",
      "可{does}，{benefit}。主要功能有{feature}和{second}。",
    ],
  },
  {
    short: ["{name} helps {reader} {does}.", "{name}帮助{reader}{does}。"],
    rest: ["The {noun} comes with {feature} and {second}.", "这款{noun}提供{feature}和{second}等功能。"],
  },
  {
    short: ["{name} lets {reader} {does}, {benefit}.", "{name}让{reader}{does}，{benefit}。"],
    rest: ["It includes {feature} and {second}.", "功能包括{feature}和{second}。"],
  },
];

/** Features of products of any sector. */
export const GENERAL_FEATURES: readonly Bilingual[] = pairs(
  "shared workspaces|共享工作区;single sign-on|单点登录;mobile apps|移动应用;version history|版本历史;usage reports|用量报告;templates|模板库;dark mode|深色模式;keyboard shortcuts|快捷键;two-factor sign-in|两步验证;guest access|访客权限;bulk export|批量导出;activity logs|操作日志",
);

/** Invented AI platforms that send visitors. */
export const AI_PLATFORMS: readonly string[] =
  "Chatharbor, Askwell, Lumenchat, Parlance AI, Wendao, Sidekick One, Clearanswer, Mindmate, Tianwen, Orbit Assistant".split(
    ", ",
  );

/** Templates of searches by cluster. `{}` is the term. */
export const INTENTS: readonly { cluster: string; name: Bilingual; en: readonly string[]; zh: readonly string[] }[] = [
  {
    cluster: "core",
    name: { en: "core terms", zh: "核心词" },
    en: ["{}", "{} app", "{} online"],
    zh: ["{}", "{}软件", "在线{}"],
  },
  {
    cluster: "free",
    name: { en: "free", zh: "免费" },
    en: ["free {}", "{} free no sign up", "{} free trial"],
    zh: ["免费{}", "{}免费版"],
  },
  {
    cluster: "best",
    name: { en: "comparison", zh: "对比" },
    en: ["best {}", "{} comparison", "top {} tools"],
    zh: ["{}哪个好", "{}排行榜", "{}推荐"],
  },
  {
    cluster: "audience",
    name: { en: "audiences", zh: "人群" },
    en: ["{} for students", "{} for business", "{} for teachers", "{} for beginners"],
    zh: ["学生{}", "企业{}"],
  },
  {
    cluster: "howto",
    name: { en: "how to", zh: "教程" },
    en: ["how to use {}", "{} tutorial", "{} examples"],
    zh: ["{}怎么用", "{}教程"],
  },
];

/** Templates of searches for a product by its name. */
export const BRAND_INTENTS: readonly {
  kind: "brand_navigational" | "brand_commercial";
  en: string;
  zh: string;
}[] = [
  { kind: "brand_navigational", en: "{}", zh: "{}" },
  { kind: "brand_navigational", en: "{} login", zh: "{}登录" },
  { kind: "brand_commercial", en: "{} pricing", zh: "{}价格" },
  { kind: "brand_commercial", en: "{} alternative", zh: "{}替代" },
  { kind: "brand_commercial", en: "{} review", zh: "{}评测" },
];

/** Templates of searches that are possibly for a brand. `{}` is the first part of a product's name. */
export const UNCLEAR_TERMS: readonly string[] = ["{} ai", "{} 2", "{} bot", "my {}", "{} labs"];

/** The countries of visits, the most common first. */
export const COUNTRIES: readonly string[] = "US IN GB DE BR JP CN FR CA ES ID KR MX AU IT NL PL SE VN TR".split(" ");
