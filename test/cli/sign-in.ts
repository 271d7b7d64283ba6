import { TestBrowser } from '../auth/test-browser.ts';
import type { Credentials } from '../support/binary.ts';

/**
 * Signs the administrator in at the address that the command has printed, and follows the redirects.
 * @returns the page that the command shows in the browser
 */
export async function signInAt(address: string, { adminEmail, adminPassword }: Credentials): Promise<string> {
  const { host, pathname, search } = new URL(address);
  const browser = new TestBrowser(host, '127.0.0.1');
  await browser.open(`${pathname}${search}`);
  const page = await browser.submit({ email: adminEmail, password: adminPassword, action: 'sign-in' });
  if (page.location === undefined) throw new Error(`not signed in: ${page.status} ${page.error}`);
  return (await fetch(page.location)).text();
}
