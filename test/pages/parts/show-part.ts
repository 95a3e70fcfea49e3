import { type ComponentChild, h, render } from "preact";
import { act } from "preact/test-utils";
import { onTestFinished, vi } from "vitest";
import { PageRoot } from "../../../src/page/parts/page-frame.js";

/** Shows a part of a page, until the test is over. */
export async function showPart(part: ComponentChild): Promise<HTMLElement> {
  const at = document.body.appendChild(document.createElement("div"));
  onTestFinished(() => {
    render(null, at);
    at.remove();
  });
  await act(() => render(h(PageRoot, null, part), at));
  await settle();
  return at;
}

/** Lets answers arrive, and the page be drawn with them. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++)
    await act(() => new Promise<void>((resolve) => setImmediate(resolve)));
}

declare function setImmediate(callback: () => void): void;

/**
 * What the page is answered, by the path and query that it asks for. `undefined`: no answer comes.
 */
export function answerFetch(
  answer: (path: string) => { status?: number; json: unknown } | Promise<never>,
): void {
  vi.stubGlobal("fetch", async (path: string) => {
    const { status = 200, json } = await answer(path);
    return new Response(JSON.stringify(json), { status });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
}

export const pressButton = (within: HTMLElement, label: string): Promise<void> =>
  act(() => {
    const button = [...within.querySelectorAll("button")].find(
      ({ textContent }) => textContent === label,
    );
    if (button === undefined) throw new Error(`there is no button ${label}`);
    button.click();
  });
