import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type PasswordPool, startPasswordPool } from '../../../src/accounts/password-pool.ts';
import { noPasswordHash } from '../../../src/accounts/passwords.ts';
import { createUser } from '../../../src/accounts/users.ts';
import { authorizeEndpoints } from '../../../src/auth/browser/authorize.ts';
import { createRouter } from '../../../src/http/router.ts';
import type { HttpResponse } from '../../../src/http/types.ts';
import { workerFile } from '../../support/service.ts';
import { bind } from '../bind.ts';
import { createRequest, openAuthFixture } from '../fixture.ts';
import { challenge } from '../sign-in-fixture.ts';
import { encode } from '../test-browser.ts';

const person = { email: 'ada@example.com', password: 'the analytical engine' };

/** Opens the endpoint with a store and a pool whose failures the test controls. A browser has opened the page. */
async function openEndpoint() {
  const { settings, store, directory, team, health } = await openAuthFixture();
  const passwords: PasswordPool = startPasswordPool(workerFile('accounts/password-worker'));
  onTestFinished(() => passwords.close());
  const passwordHash = await passwords.hash(person.password, randomBytes, 'admin');
  await createUser(directory, { ...person, name: 'Ada', role: 'User', teams: [team.id], passwordHash });
  const dispatch = createRouter(bind(authorizeEndpoints, { ...settings, passwords }));
  const query = encode({
    response_type: 'code',
    client_id: 'flagmeter-console',
    redirect_uri: `${settings.audience}/console/callback`,
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const target = `/connect/authorize?${query}`;
  let cookie = '';
  const receive = async (response: HttpResponse | Promise<HttpResponse>) => {
    const { status, headers = {}, body } = await response;
    cookie = headers['set-cookie']?.split(';')[0] ?? cookie;
    return { status, headers, html: String(body) };
  };
  const open = () => receive(dispatch(createRequest(target, { headers: { cookie } })));
  const form = /name="form" value="(\w+)"/.exec((await open()).html)?.[1];
  const submit = () => {
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    return receive(dispatch(createRequest(target, { method: 'POST', headers, body: encode({ form, ...person }) })));
  };
  return { store, health, passwords, open, submit };
}

const busy = { status: 503, html: expect.stringContaining('The service is busy. Please try again in a moment.') };

test('no user is signed in while the store accepts no writes, and the form keeps the e-mail address', async () => {
  const { health, submit } = await openEndpoint();
  health.ready = false;
  const page = await submit();
  expect(page).toMatchObject({ ...busy, headers: { 'retry-after': '5' } });
  expect(page.html).toContain(`value="${person.email}"`);
  expect(page.html).not.toContain(person.password);
  health.ready = true;
  expect((await submit()).status).toBe(303);
});

test('the client of a signed-in user gets temporarily_unavailable while the store accepts no writes', async () => {
  const { health, open, submit } = await openEndpoint();
  await submit();
  health.ready = false;
  const { status, headers } = await open();
  expect(status).toBe(303);
  expect(headers['location']).toContain('?error=temporarily_unavailable&');
});

test('no user is signed in while too many password checks wait, and the attempt is not counted', async () => {
  const { store, passwords, submit } = await openEndpoint();
  const waiting: Promise<boolean>[] = [];
  const fill = () => {
    for (;;) waiting.push(passwords.verify('x', noPasswordHash));
  };
  expect(fill).toThrow();
  expect(await submit()).toMatchObject({ ...busy, headers: { 'retry-after': '2' } });
  expect(store.loginThrottles.getCount()).toBe(0);
  await Promise.all(waiting);
  expect((await submit()).status).toBe(303);
});
