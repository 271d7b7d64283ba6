import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { newLink, putLink, withdrawLink } from '../../../src/accounts/invitations.ts';
import { acceptInvitation } from '../../../src/auth/browser/invitation-page.ts';
import { renewBrowser } from '../../../src/auth/cookies/browser.ts';
import type { User } from '../../../src/storage/lmdb/records.ts';
import { fixtureOn } from '../../accounts/fixture.ts';
import { newDatabase, openNode, sharedServer } from '../../accounts/store/postgres-fixture.ts';
import { cheapHash } from '../../support/cheap-hash.ts';
import { needing } from '../../support/needing.ts';
import { openSessionFixture, type SessionFixture } from '../session-fixture.ts';

const { test } = needing('postgresql');

const dayMs = 24 * 3_600_000;
const lifetimes = { invitation: dayMs, 'reset-link': dayMs };
const password = 'chosen on another node';

const passwords = { checkRoom: () => {}, hash: () => hashed, verify: async () => false, close: async () => {} };
const hashed = cheapHash(password, randomBytes);

/** Reads the user from one node. Both nodes have the same user. */
const userOn = ({ directory, user }: SessionFixture): User => directory.users.get(user.id)!;

function link(node: SessionFixture): Promise<string> {
  return node.directory.change((tx) => {
    const user = tx.users.get(node.user.id)!;
    const now = node.clock.now();
    const made = newLink('reset-link', user.passwordHash, { randomBytes, now, lifetimes });
    putLink(tx, user, made, now);
    return made.token;
  });
}

async function use(node: SessionFixture, token: string): Promise<string> {
  await node.accountStore.current();
  const browser = renewBrowser(undefined, randomBytes);
  const typed = { token, password, again: password, address: '192.0.2.1', browser, userAgent: '' };
  return (await acceptInvitation({ ...node.settings, passwords }, typed)).outcome;
}

test('a reset link of one node is accepted at another node, but only once across all nodes', async () => {
  const url = await newDatabase(await sharedServer());
  const one = await openSessionFixture(0, await fixtureOn({ data: '', ...openNode(url) }));
  const node = openNode(url);
  await node.accountStore.current();
  const other = one.beside(node);
  const token = await link(one);
  const both = await Promise.all([use(one, token), use(other, token)]);
  expect(both.sort()).toEqual(['over', 'signed-in']);
  await one.accountStore.current();
  expect(userOn(one)).not.toHaveProperty('invitation');
  const replaced = await link(other);
  const latest = await link(one);
  expect(await use(other, replaced)).toBe('over');
  await one.directory.change((tx) => withdrawLink(tx, tx.users.get(one.user.id)!, one.clock.now()));
  expect(await use(other, latest)).toBe('over');
  const ended = await link(one);
  // An earlier release sets a password, and keeps the fields of later releases.
  await other.accountStore.current();
  await other.accountStore.change((tx) =>
    tx.put('users', one.user.id, { ...userOn(other), passwordHash: 'of an earlier release' }),
  );
  expect(await use(one, ended)).toBe('over');
});
