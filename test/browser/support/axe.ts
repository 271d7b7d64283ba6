import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { CDPSession, Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** Rules about colours: only their results can differ between the colour schemes. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the faults that axe-core finds in a page, one line for each element.
 * @param rules the rules to check; all rules by default
 */
export async function axeFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await load(page);
  // `preload` would read all style sheets and media files again, only for rules about videos and disabled rules.
  const options = { resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) };
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  )) as { violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] };
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

/** Returns the faults in both colour schemes. The page is not reloaded in between, because this would take longer. */
export async function schemeFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const [colorScheme, rules] of [['light'], ['dark', colourRules]] as const) {
    await page.emulateMedia({ colorScheme });
    for (const fault of await axeFaults(page, rules)) faults.push(`${colorScheme}: ${fault}`);
  }
  return faults;
}

/**
 * Loads axe-core through the debugger, which ignores the Content-Security-Policy and is twice as fast as
 * `page.evaluate`.
 */
async function load(page: Page): Promise<void> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  const { exceptionDetails } = await (await session).send('Runtime.evaluate', { expression: `${source};0` });
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
}
