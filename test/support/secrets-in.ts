import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { TestBrowser } from '../auth/test-browser.ts';
import { manage } from './binary.ts';

const secretField = /secret|password|token$|^key$|^instanceId$|^device_code$|^user_code$/i;

/** Yields the secrets in a response, which are fields with certain names, and parts of links. */
export function* secretsIn(answer: unknown): Generator<readonly [name: string, secret: string]> {
  if (typeof answer !== 'object' || answer === null) return;
  for (const [name, value] of Object.entries(answer)) {
    const link = /\/connect\/invitation#([\w-]{43})$/.exec(String(value))?.[1];
    if (link !== undefined) yield ['the secret of a link', link];
    else if (secretField.test(name) && typeof value === 'string' && value.length >= 8) yield [name, value];
    else yield* secretsIn(value);
  }
}

/** Invites a user, and uses the link with right and wrong secrets. @param note called with each secret */
export async function useLink(
  http: string,
  access: string,
  name: string,
  note: (name: string, secret: string) => void,
): Promise<void> {
  const made = await manage(http, access, 'POST', '/api/v2/users', 201, { name, email: `${name}@example.com` });
  for (const [field, secret] of secretsIn(made)) note(field, secret);
  const { url } = (made as { invitation: { url: string } }).invitation;
  const password = `chosen ${randomBytes(12).toString('hex')}`;
  note('a chosen password', password);
  const browser = new TestBrowser(http, '127.0.0.1');
  await browser.open('/connect/invitation');
  for (const [action, again, expected] of [
    ['open', '', 200],
    ['accept', `${password}!`, 400],
    ['accept', password, 303],
    ['accept', password, 403],
  ] as const)
    expect((await browser.submit({ action, token: url, password, again })).status).toBe(expected);
}
