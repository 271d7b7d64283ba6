import { expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { openSignIn } from '../sign-in-fixture.ts';

const fixture = opened(openSignIn);

test('the password field is masked, has no maximum length, and allows pasting and password managers', async () => {
  const { html } = await fixture.newBrowser().open(fixture.target());
  const [, field = ''] = /<input ([^>]*name="password"[^>]*)>/.exec(html) ?? [];
  expect(field).toContain('type="password"');
  expect(field).toContain('autocomplete="current-password"');
  expect(field).not.toMatch(/maxlength|onpaste|readonly/i);
});

test('a password does not expire', async () => {
  fixture.clock.advance(10 * 365 * 86_400_000);
  const browser = fixture.newBrowser();
  await browser.open(fixture.target());
  const { location } = await browser.submit({ ...fixture.admin });
  expect(location?.searchParams.get('code')).toBeTruthy();
});
