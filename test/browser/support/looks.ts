import type { Page } from 'playwright-core';

/* Code that runs in the page is written as text, because these files are type-checked for Node, which has no DOM. */

/** Reads a computed property, such as `fontSize`, of the style of the first element that a selector finds. */
export function readStyle(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
}

/** Reads the width of a page. It is larger than the width of the screen if the page scrolls horizontally. */
export function readWidth(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth');
}

/** The colours of an element's text and of its background. */
export interface Colours {
  readonly element: string;
  readonly text: string;
  readonly ground: string;
}

/** Reads the colours of all readable texts on a page. */
export function readColours(page: Page): Promise<Colours[]> {
  return page.evaluate(`(() => {
    const groundOf = (element) => {
      const colour = element === null ? 'rgb(255, 255, 255)' : getComputedStyle(element).backgroundColor;
      return colour === 'rgba(0, 0, 0, 0)' ? groundOf(element.parentElement) : colour;
    };
    const readable = document.querySelectorAll('h1, p, strong, label, input:not([type=hidden]), button');
    return Array.from(readable, (element) => ({
      element: element.outerHTML.slice(0, 60),
      text: getComputedStyle(element).color,
      ground: groundOf(element),
    }));
  })()`);
}

/** Computes the contrast ratio of two colours (WCAG 2.2), 1 to 21. Takes `rgb(r, g, b)`, as in browsers. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((value) => {
    const part = Number(value) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the texts of a page that are cut off and have no tooltip with the whole text. */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('header *, main *')]
    .filter((each) => {
      const { overflowX } = getComputedStyle(each);
      const isCut = overflowX === 'hidden' && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1;
      return isCut && each.closest('[title]') === null;
    })
    .map((each) => each.className + ': ' + each.textContent)`);
}
