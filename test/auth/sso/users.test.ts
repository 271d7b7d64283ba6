import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import type { Behaviour } from './own-provider.ts';
import { openSso } from './sso-fixture.ts';

const sso = opened(openSso);
let others: { id: string };
beforeAll(async () => {
  others = await sso.call('POST', '/teams', 201, { name: 'Flags' });
});
afterEach(() => sso.provider.reset());

/**
 * Signs in with these claims.
 * @returns the code of the refusal reason, or `signed in`
 */
async function enterWith(claims: Behaviour['claims'], settings: object = {}, userInfo: Behaviour['userInfo'] = {}) {
  const usual = { linkByEmail: false, createUsers: true, defaultTeam: sso.teamId, claimRules: [] };
  await sso.configure({ ...usual, ...settings });
  Object.assign(sso.provider.behaviour, { claims, userInfo: { sub: claims['sub'], ...userInfo } });
  const { code, reason, html } = await sso.enter();
  return code === null ? (reason ?? html) : 'signed in';
}

interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly teams: readonly string[];
  readonly teamRoles?: Readonly<Record<string, string>>;
}

async function findUser(email: string): Promise<User | undefined> {
  const { items } = await sso.callAsAdmin<{ items: User[] }>('GET', '/users?limit=200', 200);
  return items.find((user) => user.email === email);
}

describe('a first sign-in', () => {
  test('a first sign-in creates a user with the claims of the ID token', async () => {
    const claims = { sub: 'grace', email: 'grace@corp.example', name: 'Grace Hopper' };
    expect(await enterWith(claims)).toBe('signed in');
    expect(await findUser('grace@corp.example')).toMatchObject({ name: 'Grace Hopper', teams: [sso.teamId] });
  });

  test('a first sign-in creates a user with the claims of the UserInfo endpoint', async () => {
    const userInfo = { email: 'alan@corp.example', email_verified: true, given_name: 'Alan', family_name: 'T' };
    expect(await enterWith({ sub: 'alan', email: null, email_verified: null }, {}, userInfo)).toBe('signed in');
    expect(await findUser('alan@corp.example')).toMatchObject({ name: 'Alan T' });
  });

  test('a first sign-in with the UserInfo of another user is refused', async () => {
    const userInfo = { sub: 'eve', email: 'eve@corp.example', email_verified: true };
    expect(await enterWith({ sub: 'mallory', email: null }, {}, userInfo)).toBe('claims_invalid');
  });

  test('the claim email_verified of the ID token does not verify an e-mail address from the UserInfo endpoint', async () => {
    const userInfo = { email: 'admin@corp.example', email_verified: false };
    expect(await enterWith({ sub: 'mallory', email: null, email_verified: true }, {}, userInfo)).toBe(
      'email_unverified',
    );
  });

  test.each<[string, object, string]>([
    ['no address', { email: null }, 'email_missing'],
    ['a list of addresses', { email: ['a@corp.example'] }, 'email_missing'],
    ['an object as address', { email: { value: 'a@corp.example' } }, 'email_missing'],
    ['a long address', { email: `${'a'.repeat(320)}@corp.example` }, 'email_missing'],
    ['a text that is not an address', { email: 'ada at corp' }, 'email_missing'],
    ['an address that equals another address in lower case', { email: '\u212aim@corp.example' }, 'email_missing'],
    ['an unverified address', { email_verified: false }, 'email_unverified'],
    ['an address with `email_verified` as text', { email_verified: 'true' }, 'email_unverified'],
  ])('a first sign-in with %s creates no user', async (_what, claims, reason) => {
    expect(await enterWith({ sub: 'nobody', email: 'nobody@corp.example', ...claims })).toBe(reason);
    expect(await findUser('nobody@corp.example')).toBeUndefined();
  });

  test('a user is named after the e-mail address if the name is an array or changes the text direction', async () => {
    for (const [sub, name] of [
      ['n1', ['Ada', 'Eve']],
      ['n2', 'A\u202eda'],
    ] as const) {
      const email = `${sub}@corp.example`;
      expect(await enterWith({ sub, email, name })).toBe('signed in');
      expect(await findUser(email)).toMatchObject({ name: email });
    }
  });

  test('an unknown user is refused if the provider does not create users', async () => {
    const settings = { createUsers: false };
    expect(await enterWith({ sub: 'new', email: 'new@corp.example' }, settings)).toBe('user_unknown');
    expect(await enterWith({ sub: 'new', email: 'new@corp.example' }, { ...settings, linkByEmail: true })).toBe(
      'user_unknown',
    );
    const [entry] = await sso.audit();
    expect(entry).toMatchObject({
      action: 'sign-in.refused',
      factors: ['provider'],
      provider: 'Corp',
      reason: 'user_unknown',
      target: { name: 'new@corp.example' },
    });
  });

  test('a new user without a team is refused', async () => {
    expect(await enterWith({ sub: 'new', email: 'new@corp.example' }, { defaultTeam: null })).toBe('team_missing');
  });
});

describe('the address of an existing user', () => {
  const { email } = { email: 'ADA@example.COM' };

  test('an account with the address of an existing user is linked only if the provider setting allows it', async () => {
    expect(await enterWith({ sub: 'a1', email })).toBe('email_taken');
  });

  test('an unverified address is not linked to an existing user', async () => {
    for (const email_verified of [false, 'true', 1, null, [true]])
      expect(await enterWith({ sub: 'a1', email, email_verified }, { linkByEmail: true })).toBe('email_unverified');
  });

  test('an e-mail address in any letter case links at most one account of a provider to a user', async () => {
    const linking = { linkByEmail: true };
    expect(await enterWith({ sub: 'a1', email }, linking)).toBe('signed in');
    expect(await enterWith({ sub: 'a2', email }, linking)).toBe('linked_elsewhere');
    const user = await findUser(sso.admin.email);
    const { items } = await sso.call<{ items: { id: string }[] }>('GET', `/users/${user!.id}/identities`, 200);
    expect(items).toMatchObject([{ provider: 'Corp', issuer: sso.provider.issuer, email }]);
    expect((await sso.audit()).map(({ action }) => action)).toContain('identity.linked');
  });

  test('linking an account to an invited user ends the invitation', async () => {
    const email = 'lin@corp.example';
    await sso.call('POST', '/users', 201, { email, name: 'Lin' });
    expect(await enterWith({ sub: 'lin', email }, { linkByEmail: true })).toBe('signed in');
    expect(await findUser(email)).toMatchObject({ invitation: null });
  });

  test('an account stays linked if its address changes at the provider', async () => {
    expect(await enterWith({ sub: 'a1', email: 'other@corp.example', email_verified: false })).toBe('signed in');
    expect(await findUser('other@corp.example')).toBeUndefined();
  });
});

describe('a rule for a claim', () => {
  const rule = (value: string, role: string, claim = 'groups') => ({ claim, value, team: others.id, role });
  const claims = { sub: 'lin', email: 'lin@corp.example' };

  test('a claim rule grants, changes and removes a role in a team', async () => {
    const claimRules = [rule('devs', 'User'), rule('leads', 'Admin')];
    await enterWith({ ...claims, groups: ['devs', 'x'] }, { claimRules });
    expect(await findUser(claims.email)).toMatchObject({ teams: [sso.teamId, others.id] });
    await enterWith({ ...claims, groups: ['devs', 'leads'] }, { claimRules });
    const { items } = await sso.callAsAdmin<{ items: User[] }>('GET', `/teams/${others.id}/members`, 200);
    expect(items.find(({ email }) => email === claims.email)).toMatchObject({ teamRoles: { [others.id]: 'Admin' } });
    await enterWith({ ...claims, groups: [] }, { claimRules });
    expect(await findUser(claims.email)).toMatchObject({ teams: [sso.teamId] });
  });

  test.each<[string, object]>([
    ['a text', { groups: 'devs' }],
    ['a number', { groups: 7 }],
    ['a nested claim', { realm: { roles: ['devs'] } }],
    ['a claim of the UserInfo endpoint', {}],
  ])('a claim rule matches %s', async (_what, more) => {
    const claimRules = [rule('devs', 'User'), rule('7', 'User'), rule('devs', 'User', 'realm.roles')];
    const userInfo = Object.keys(more).length === 0 ? { groups: ['devs'] } : {};
    await enterWith({ ...claims, ...more }, { claimRules }, userInfo);
    expect(await findUser(claims.email)).toMatchObject({ teams: [sso.teamId, others.id] });
    await enterWith(claims, { claimRules });
    expect(await findUser(claims.email)).toMatchObject({ teams: [sso.teamId] });
  });

  test('a claim rule does not match an object, or a property that every object has', async () => {
    const claimRules = [rule('devs', 'User'), rule('[object Object]', 'User'), rule('x', 'User', '__proto__.y')];
    await enterWith({ ...claims, groups: { devs: true } }, { claimRules });
    expect(await findUser(claims.email)).toMatchObject({ teams: [sso.teamId] });
  });

  test('a user who loses the last team because of a claim rule is deleted', async () => {
    const settings = { defaultTeam: null, claimRules: [{ ...rule('devs', 'User'), team: sso.teamId }] };
    const mary = { sub: 'mary', email: 'mary@corp.example' };
    expect(await enterWith({ ...mary, groups: ['devs'] }, settings)).toBe('signed in');
    expect(await findUser(mary.email)).toMatchObject({ teams: [sso.teamId] });
    expect(await enterWith({ ...mary, groups: [] }, settings)).toBe('team_missing');
    expect(await findUser(mary.email)).toBeUndefined();
    const deleted = (await sso.audit()).find(({ action }) => action === 'user.deleted');
    expect(deleted).toMatchObject({ target: { name: mary.email } });
    expect(await enterWith({ ...mary, groups: ['devs'] }, settings)).toBe('signed in');
  });
});

test('only an Admin of all teams of a user can unlink an account of the user', async () => {
  const rule = { claim: 'groups', value: 'both', team: others.id, role: 'User' };
  const claims = { sub: 'max', email: 'max@corp.example', groups: ['both'] };
  expect(await enterWith(claims, { claimRules: [rule] })).toBe('signed in');
  const path = `/users/${(await findUser(claims.email))!.id}/identities`;
  const { items } = await sso.call<{ items: { id: string }[] }>('GET', path, 200);
  await sso.call('DELETE', `${path}/${items[0]!.id}`, 403);
  await sso.callAsAdmin('DELETE', `${path}/${items[0]!.id}`, 204);
});
