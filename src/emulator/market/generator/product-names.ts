import { TOPIC, type Dice } from "./dice.js";
import type { Sector } from "./sectors.js";
import { BEGINNINGS, HANZI_BEGINNINGS, HANZI_ENDINGS } from "./words.js";

/** Has no factor in common with the number of Latin or of Chinese names, so that stepping by it meets each once. */
const STEP = 457;
const CHINESE_SHARE = 0.12;

/** Different for each product of a seed: the beginning and the ending together occur once. */
export function nameProduct(dice: Dice, index: number, sector: Sector): { name: string; slug: string } {
  if (dice.fraction(TOPIC.productName, index) < CHINESE_SHARE) return chineseName(dice, index, sector);
  const { endings } = sector;
  const count = BEGINNINGS.length * endings.length;
  const place = (index * STEP + dice.below(count, TOPIC.productName, -1)) % count;
  const beginning = BEGINNINGS[place % BEGINNINGS.length] ?? "";
  const ending = endings[Math.floor(place / BEGINNINGS.length)] ?? "";
  // After as many products as there are names, they begin again with a number.
  const round = Math.floor(index / count);
  const number = round === 0 ? "" : ` ${round + 1}`;
  const style = dice.below(4, TOPIC.productName, index, 1);
  const [glue, tail] = style === 0 ? [" ", ""] : style === 1 ? ["", " AI"] : ["", ""];
  const last = glue === "" ? ending : (ending[0] ?? "").toUpperCase() + ending.slice(1);
  const name = `${beginning}${glue}${last}${number}`;
  return { name: `${name}${tail}`, slug: name.toLowerCase().replaceAll(" ", "-") };
}

function chineseName(dice: Dice, index: number, sector: Sector): { name: string; slug: string } {
  const count = HANZI_BEGINNINGS.length * HANZI_ENDINGS.length;
  const place = (index * STEP + dice.below(count, TOPIC.productName, -2)) % count;
  const beginning = HANZI_BEGINNINGS[place % HANZI_BEGINNINGS.length] ?? "";
  const ending = HANZI_ENDINGS[Math.floor(place / HANZI_BEGINNINGS.length)] ?? "";
  const round = Math.floor(index / count);
  const number = round === 0 ? "" : `${round + 1}`;
  const romanised = `${beginning.slice(1)}${ending.slice(1)}${number}`;
  return {
    name: `${beginning.slice(0, 1)}${ending.slice(0, 1)}${number}`,
    slug: `${romanised}-${sector.endings[index % sector.endings.length] ?? ""}`,
  };
}
