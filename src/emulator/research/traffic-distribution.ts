import type { z } from "zod";
import type { CONCENTRATIONS, trafficDistributionSchema } from "../../api/search-demand.js";
import type { ReceivingProduct } from "./receiving-products.js";

type TrafficDistribution = z.infer<typeof trafficDistributionSchema>;

/**
 * How a keyword's traffic is spread over the tracked products that receive it (service document, Search demand response).
 *
 * @param products all of them, the largest first
 * @param shown how many are listed; the others are `other_products`
 */
export function trafficDistribution(products: readonly ReceivingProduct[], shown: number): TrafficDistribution {
  const total = sum(products);
  const listed = products.slice(0, shown);
  const others = products.slice(shown);
  const cr3 = total === 0 ? null : sum(products.slice(0, 3)) / total;
  return {
    products: listed.map(({ tool_id, name, slug, domain, market_name, observed_traffic }) => {
      const share = total === 0 ? null : observed_traffic / total;
      return { tool_id, name, slug, domain, market_name, observed_traffic, share };
    }),
    total_traffic: total,
    product_count: products.length,
    other_traffic: sum(others),
    other_products: others.length,
    cr3,
    concentration: concentrationOf(cr3, products.length),
  };
}

/** From these CR3 on a keyword's traffic is called concentrated, and balanced; below it is distributed. */
export const CONCENTRATED_FROM_CR3 = 0.9;
export const BALANCED_FROM_CR3 = 0.7;

function concentrationOf(cr3: number | null, productCount: number): (typeof CONCENTRATIONS)[number] {
  if (cr3 === null) return "unknown";
  if (productCount === 1) return "single";
  if (cr3 >= CONCENTRATED_FROM_CR3) return "concentrated";
  return cr3 >= BALANCED_FROM_CR3 ? "balanced" : "distributed";
}

function sum(products: readonly ReceivingProduct[]): number {
  return products.reduce((total, { observed_traffic }) => total + observed_traffic, 0);
}
