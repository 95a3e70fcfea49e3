// Takes the pictures of the pages for README.md and docs/inbox-page.md, in light and dark, from a receiver whose callback fails for some products:
//
//   npm run build && node test/toolchain/take-pictures.js
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as launcher } from "playwright-core";
import { createReceiver } from "../../dist/index.js";
import { inboxPage } from "../../dist/inbox-page/inbox-page.js";
import { memoryStore } from "../../dist/stores/memory.js";
import { signalEvent, signedDelivery } from "../../dist/testing/index.js";

const SECRET = "whsec_of_the_pictures";
const PRODUCTS = ["cobalt-scribe", "valebabel", "larkvoice", "hazel-quill", "lunar-studio", "alderscript"];
const TYPES = ["price_increased", "traffic_breakout", "new_feature", "new_ai_referral_source", "price_decreased"];
const FAILING = new Set(PRODUCTS.slice(0, 2));
const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));

const receiver = createReceiver({
  secrets: SECRET,
  store: memoryStore(),
  logger: false,
  handoff: { maxAttempts: 3, backoff: () => 100 },
  onSignal({ data: { product } }) {
    if (!FAILING.has(product.slug)) return;
    const error = new Error(`connect ECONNREFUSED 10.0.4.17:5432 while reading ${product.slug}`);
    error.name = "PriceStoreError";
    throw error;
  },
});
await receiver.start();
for (let index = 0; index < 120; index++) {
  const slug = PRODUCTS[(index * 7) % PRODUCTS.length];
  const event = signalEvent(TYPES[index % TYPES.length], { data: { product: { slug } } });
  await receiver.handle({ method: "POST", ...signedDelivery(event, { secret: SECRET }) });
  await new Promise((resume) => setTimeout(resume, 20));
}
const forged = signedDelivery(signalEvent("new_feature"), { secret: "whsec_of_somebody_else" });
await receiver.handle({ method: "POST", ...forged, remoteAddress: () => "203.0.113.7" });

const server = createServer(inboxPage(receiver, { authorize: "loopback" }));
await new Promise((resume) => server.listen(0, "127.0.0.1", resume));
const url = `http://127.0.0.1:${server.address().port}/`;
const executablePath = await chromium.executablePath();
const browser = await launcher.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const colorScheme of ["light", "dark"]) {
  const context = await browser.newContext({ viewport: { width: 1180, height: 640 }, colorScheme });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText("1 error").click();
  await page.getByRole("list", { name: "Failures" }).waitFor();
  await page.screenshot({ path: `${folder}inbox-${colorScheme}.png` });
  await page.getByRole("row").filter({ hasText: "dead" }).first().locator("a").click();
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
  await page.screenshot({ path: `${folder}event-${colorScheme}.png` });
  await context.close();
}
await browser.close();
server.close();
await receiver.close({ graceMs: 0 });
