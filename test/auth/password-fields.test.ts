import { afterAll, expect, test } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { openSignIn } from './sign-in-fixture.ts';

afterAll(cleanUp);

test('the field of a password is masked, unlimited, and open to pasting and password managers', async () => {
  const { newBrowser, target, service } = await openSignIn();
  const { html } = await newBrowser().open(target());
  const [, field = ''] = /<input ([^>]*name="password"[^>]*)>/.exec(html) ?? [];
  expect(field).toContain('type="password"');
  expect(field).toContain('autocomplete="current-password"');
  expect(field).not.toMatch(/maxlength|onpaste|readonly/i);
  await service.stop();
});
