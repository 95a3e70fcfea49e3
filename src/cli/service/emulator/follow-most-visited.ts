import type { EmulatorControl } from "../../../service/emulator/instance/create-emulator.js";

/** @returns the slugs, the product with the most traffic first */
export async function followMostVisited(
  control: Pick<EmulatorControl, "follow">,
  {
    account,
    count,
    baseUrl,
    apiKey,
  }: { account: number; count: number; baseUrl: string; apiKey: string },
): Promise<string[]> {
  const { createClient } = await import("../../../service/client/client.js");
  const { items } = await createClient({ baseUrl, apiKey }).rankings({
    sort: "traffic",
    limit: count,
  });
  const slugs = items.map(({ slug }) => slug);
  await control.follow({ account_id: account, slugs });
  return slugs;
}
