import type { Page } from 'playwright-core';

/**
 * Lets a page copy, and returns a function that returns the text copied last. The text is not read from the clipboard,
 * because the pages of all test files share the clipboard.
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
