import { TOPIC, type Dice } from "./dice.js";
import type { Product } from "./product.js";

type Presence = Product["presence"];

/** The chance of each event in a month. */
const CHANCE = {
  expansion: 0.012,
  contraction: 0.006,
  pattern: 0.008,
  markets: 0.007,
  creatives: 0.05,
  burst: 0.01,
  push: 0.01,
  jump: 0.03,
} as const;

export function firstPresence(dice: Dice, index: number, hasAds: boolean, level: number): Presence {
  const size = dice.fraction(TOPIC.presence, index);
  const hasExtension = dice.fraction(TOPIC.presence, index, -1) < 0.18;
  return {
    plainUrls: 30 + Math.floor(3000 * size * size),
    patternUrls: dice.fraction(TOPIC.presence, index, -2) < 0.2 ? dice.between(100, 900, TOPIC.presence, index, -3) : 0,
    marketUrls: dice.fraction(TOPIC.presence, index, -4) < 0.3 ? dice.between(8, 120, TOPIC.presence, index, -5) : 0,
    searchAds: hasAds ? dice.between(4, 60, TOPIC.presence, index, -6) : 0,
    adCreatives: hasAds ? dice.between(3, 30, TOPIC.presence, index, -7) : 0,
    articles: 0,
    directories: dice.below(6, TOPIC.presence, index, -8),
    extensionUsers: hasExtension ? thousands(level * 0.4 + 1000) : null,
  };
}

/** Advances a product's presence by a month. */
export function stepPresence(dice: Dice, product: Product, turn: number): void {
  const { presence, index } = product;
  const draw = (what: number): number => dice.fraction(TOPIC.presenceChange, index, turn * 16 + what);

  presence.plainUrls = Math.round(presence.plainUrls * (0.99 + 0.03 * draw(0)));
  const sitemap = draw(1);
  if (sitemap < CHANCE.expansion) presence.plainUrls = Math.round(presence.plainUrls * (1.7 + 2 * draw(2)));
  else if (sitemap < CHANCE.expansion + CHANCE.contraction) {
    presence.plainUrls = Math.max(12, Math.round(presence.plainUrls * (0.2 + 0.3 * draw(2))));
    presence.patternUrls = Math.round(presence.patternUrls * 0.2);
  }
  if (draw(3) < CHANCE.pattern) presence.patternUrls += 400 + Math.floor(4000 * draw(2));
  if (draw(4) < CHANCE.markets) presence.marketUrls += 60 + Math.floor(300 * draw(2));

  if (product.paidShare === 0) {
    presence.searchAds = 0;
    presence.adCreatives = 0;
  } else {
    presence.searchAds =
      presence.searchAds === 0
        ? 5 + Math.floor(35 * draw(5))
        : Math.min(300, Math.max(3, Math.round(presence.searchAds * (0.85 + 0.3 * draw(5)))));
    const growth = draw(6) < CHANCE.creatives ? 2 + 2 * draw(7) : 0.85 + 0.28 * draw(7);
    presence.adCreatives = Math.min(400, Math.max(2, Math.round(presence.adCreatives * growth)));
  }
  presence.articles = draw(8) < CHANCE.burst ? 5 + Math.floor(8 * draw(9)) : Math.floor(2.4 * draw(9) * draw(9));
  if (draw(10) < CHANCE.push) presence.directories += 4 + Math.floor(6 * draw(11));
  else if (draw(11) < 0.04) presence.directories += 1;
  if (presence.extensionUsers !== null) {
    const growth = draw(12) < CHANCE.jump ? 1.5 + 0.6 * draw(13) : 0.99 + 0.05 * draw(13);
    presence.extensionUsers = thousands(Math.min(9_000_000, presence.extensionUsers * growth + 150));
  }
}

/** Rounds to thousands, as extension stores do. */
function thousands(users: number): number {
  return Math.max(1, Math.round(users / 1000)) * 1000;
}
