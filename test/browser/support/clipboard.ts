import type { Page } from 'playwright-core';

/**
 * Allows a page to copy, and returns a function that returns the text that it copied last. The text cannot be read from
 * the clipboard: the pages of all files share it.
 */
export async function watchCopies(page: Page): Promise<() => Promise<string>> {
  await page.context().grantPermissions(['clipboard-write']);
  await page.evaluate(`(() => {
    const write = navigator.clipboard.writeText.bind(navigator.clipboard);
    navigator.clipboard.writeText = async (text) => {
      await write(text);
      globalThis.copied = text;
    };
  })()`);
  return () => page.evaluate<string>('copied');
}
