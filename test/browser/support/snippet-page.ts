import type { Browser, Page } from 'playwright-core';
import type { PageServer } from './pages.ts';

/** Opens a page that loads the snippet as `flags`. Records all errors on the page. */
export async function openWithSnippet(
  browser: Pick<Browser, 'newPage'>,
  pages: PageServer,
  from: string,
  options: object,
  { path = '/', csp = '', before = '' } = {},
): Promise<{ page: Page; errors: string[] }> {
  const headers = csp === '' ? {} : { 'content-security-policy': csp };
  const code = `import { flagmeter } from '${from}/snippet.js';
    window.flags = flagmeter(${JSON.stringify(options)}); window.flagmeter = flagmeter;`;
  const html = `<!doctype html><title>A page</title><script nonce="page">${before}</script>
    <script type="module" nonce="page">${code}</script>`;
  pages.put(path, { html, headers });
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => errors.push(message.text()));
  await page.goto(`${pages.origin}${path}`);
  await page.waitForFunction('window.flags !== undefined');
  return { page, errors };
}
