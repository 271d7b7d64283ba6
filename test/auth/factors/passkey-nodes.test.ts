import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { type Browser, renewBrowser } from '../../../src/auth/cookies/browser.ts';
import { acceptPasskey } from '../../../src/auth/factors/passkeys/accept-passkey.ts';
import { registerPasskey } from '../../../src/auth/factors/passkeys/add-passkey.ts';
import { type PasskeyOptions, passkeyPages } from '../../../src/auth/factors/passkeys/options.ts';
import { readAssertion, readAttestation } from '../../../src/auth/factors/passkeys/web-authn.ts';
import { startSignIn } from '../../../src/auth/oauth/sign-ins.ts';
import { fixtureOn } from '../../accounts/fixture.ts';
import { newDatabase, openNode, sharedServer } from '../../accounts/store/postgres-fixture.ts';
import { type AskedOptions, Authenticator, type FormFields } from '../../support/authenticator.ts';
import { needing } from '../../support/needing.ts';
import { openSessionFixture, type SessionFixture } from '../session-fixture.ts';

const { test } = needing('postgresql');

const address = '192.0.2.1';
const device = new Authenticator('https://auth.example', { id: randomBytes(16), counter: 7 });

/** The settings of a node's pages. No password is checked here. */
const getSettings = ({ settings }: SessionFixture) => ({ ...settings, passwords: undefined as never });
const getPages = (node: SessionFixture) => passkeyPages(node.settings)!;
const asked = (options: PasskeyOptions) => options as unknown as AskedOptions;
const createForm = (fields: FormFields) => new Map(Object.entries(fields));

async function add(node: SessionFixture, challenger: SessionFixture): Promise<unknown> {
  const { user } = node;
  const browser = renewBrowser(undefined, randomBytes);
  const authentication = { factors: ['password'], userAgent: '' } as const;
  const now = node.clock.now();
  const given = { browser, authentication, now };
  const signIn = await node.accountStore.change((tx) => startSignIn(tx, user, given));
  const attestation = readAttestation(createForm(device.create(asked(getPages(challenger).add(browser, user)))));
  const made = { attestation, name: '', address, browser, userAgent: '' };
  return registerPasskey(getSettings(node), signIn, made, () => 'added');
}

/** The response of the device to a challenge of a node. */
function signChallenge(challenger: SessionFixture, browser: Browser) {
  return readAssertion(createForm(device.get(asked(getPages(challenger).signIn(browser)))));
}

/** Signs in at a node. */
async function enter(node: SessionFixture, assertion: ReturnType<typeof signChallenge>, browser: Browser) {
  await node.accountStore.current();
  return acceptPasskey(getSettings(node), { assertion, address, browser }, () => ({ outcome: 'accepted' }));
}

test('a passkey challenge of one node is accepted at another node, but only once across all nodes', async () => {
  const url = await newDatabase(await sharedServer());
  const one = await openSessionFixture(0, await fixtureOn({ data: '', ...openNode(url) }));
  const node = openNode(url);
  await node.accountStore.current();
  const other = one.beside(node);
  expect(await add(other, one)).toEqual({ outcome: 'added', drafted: 'added' });
  const browser = renewBrowser(undefined, randomBytes);
  const assertion = signChallenge(one, browser);
  expect(await enter(other, assertion, browser)).toEqual({ outcome: 'accepted' });
  expect(await enter(one, assertion, browser)).toEqual({ outcome: 'stale' });
  const both = signChallenge(other, browser);
  const results = await Promise.all([enter(one, both, browser), enter(other, both, browser)]);
  expect(results.map(({ outcome }) => outcome).sort()).toEqual(['accepted', 'stale']);
  device.counter = 1;
  expect(await enter(one, signChallenge(one, browser), browser)).toEqual({ outcome: 'cloned' });
  expect(other.audited('passkey.refused').length + one.audited('passkey.refused').length).toBeGreaterThan(0);
});
