/**
 * The colours and fonts of the pictures. They follow the reader's theme, also inside of an `<img>`.
 */
export const STYLE = `<style>
  text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328 }
  .soft { fill: #59636e } .strong { font-weight: 600 } .end { text-anchor: end } .middle { text-anchor: middle }
  .line { stroke: #59636e; stroke-width: 1.5; fill: none } .head { fill: #59636e }
  .lane { stroke: #d1d9e0; stroke-width: 1.5 } .box { fill: #f6f8fa; stroke: #d1d9e0 }
  .ours { fill: #0969da } .others { fill: #afb8c1 } .spread { stroke: #1f2328; stroke-width: 1.5; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .soft { fill: #9198a1 }
    .line { stroke: #9198a1 } .head { fill: #9198a1 }
    .lane { stroke: #3d444d } .box { fill: #151b23; stroke: #3d444d }
    .spread { stroke: #f0f6fc }
    .ours { fill: #4493f8 } .others { fill: #656c76 }
  }
</style>`;

export function svg(
  { width, height, title }: { width: number; height: number; title: string },
  parts: string[],
): string {
  const attributes = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"`;
  const lines = [`<title>${escapeXml(title)}</title>`, STYLE, ...parts];
  return `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>\n${lines.join("\n")}\n</svg>\n`;
}

export function label(x: number, y: number, text: string, classes = ""): string {
  return `<text x="${x}" y="${y}" class="${classes}">${escapeXml(text)}</text>`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
