import { expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { openSignIn, redirectUris, verifier } from '../sign-in-fixture.ts';
import { encode, type Page } from '../test-browser.ts';

const fixture = opened(openSignIn);

function readCode({ status, location }: Page): string {
  expect(status).toBe(303);
  return location?.searchParams.get('code') ?? `no code: ${location?.search}`;
}

async function fetchIdToken(page: Page): Promise<string> {
  const body = encode({
    grant_type: 'authorization_code',
    client_id: fixture.clientId,
    redirect_uri: redirectUris.web,
    code_verifier: verifier,
    code: readCode(page),
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(`http://${fixture.service.http}/connect/token`, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id_token: string }).id_token;
}

test('a request with an ID token hint requires a sign-in by the user in the hint', async () => {
  const browser = fixture.newBrowser();
  const id_token_hint = await fetchIdToken(await fixture.signIn(browser));
  readCode(await browser.open(fixture.target({ prompt: 'none', id_token_hint })));
  const other = fixture.newBrowser();
  const client_id = 'flagmeter-console';
  const redirect_uri = `http://${fixture.service.http}/console/callback`;
  await fixture.signIn(other, { client_id, redirect_uri }, fixture.outsider);
  for (const hint of [id_token_hint, 'rubbish']) {
    const request = { client_id, redirect_uri, prompt: 'none', id_token_hint: hint };
    const silent = await other.open(fixture.target(request));
    expect(silent.location?.searchParams.get('error')).toBe('login_required');
  }
});

test('a request with an ID token hint gets no code for another user', async () => {
  const id_token_hint = await fetchIdToken(await fixture.signIn(fixture.newBrowser()));
  const client_id = 'flagmeter-console';
  const redirect_uri = `http://${fixture.service.http}/console/callback`;
  const request = { client_id, redirect_uri, id_token_hint };
  const browser = fixture.newBrowser();
  const page = await fixture.signIn(browser, request, fixture.outsider);
  expect(page).toMatchObject({ status: 303 });
  expect(page.location?.searchParams.get('error')).toBe('login_required');
  // The user is signed in, so a request without a hint gets a code.
  readCode(await browser.open(fixture.target({ client_id, redirect_uri })));
  readCode(await fixture.signIn(fixture.newBrowser(), request));
  readCode(await fixture.signIn(fixture.newBrowser(), { ...request, id_token_hint: 'unreadable' }));
});
