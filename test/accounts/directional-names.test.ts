import { describe, expect, test } from 'vitest';
import { checkName, checkPathName, checkSentName } from '../../src/accounts/checks.ts';
import { patchTeam } from '../../src/accounts/teams.ts';
import { html } from '../../src/auth/browser/pages/html.ts';
import { openFixture } from './fixture.ts';

const directional = ['\u202a', '\u202e', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c'].map((one) => [one]);

describe.each(directional)('a name with the character %j', (character) => {
  const name = `Shop${character}nimda`;

  test('the service rejects a name with a directional character from a person, but accepts it in a packet', () => {
    expect(() => checkName('a team', name)).toThrow('and characters that change the direction of text');
    expect(() => checkSentName('a variant', name)).not.toThrow();
    expect(() => checkPathName('a feature', name)).not.toThrow();
  });

  test('pages show a name without its directional character', () => {
    expect(html`<b title="${name}">${name}</b>`.text).toBe('<b title="Shop\ufffdnimda">Shop\ufffdnimda</b>');
  });
});

test('a team whose name already has a directional character can still be changed', async () => {
  const { directory, team } = await openFixture();
  const name = 'old\u202ename';
  await directory.change((tx) => tx.put('teams', team.id, { ...team, name }));
  expect(await patchTeam(directory, team.id, { name, plan: 'team' })).toMatchObject({ name, plan: 'team' });
  await expect(patchTeam(directory, team.id, { name: 'new\u202ename' })).rejects.toMatchObject({
    code: 'invalid_name',
  });
});
