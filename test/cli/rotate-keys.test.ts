import { expect, it } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { testClock } from '../accounts/fixture.ts';
import { administrator } from './administrator.ts';

const admin = administrator();
const { run, api, fresh } = admin;

it('keys rotate finds a key by its name, and prints a new key that replaces it', async () => {
  const app = `--app ${admin.application}`;
  const old = JSON.parse((await run(`keys create Backend --name Rotated ${app} --json`)).out);
  const { out, err } = await run(`keys rotate Rotated ${app} --json`);
  const made = JSON.parse(out);
  expect(made).toMatchObject({ type: 'Backend', name: 'Rotated', previousKeyUntil: expect.any(String) });
  expect(made.key).not.toBe(old.key);
  expect(err).toContain('Key: shown only once');
  const { items } = JSON.parse((await run(`keys list ${app} --json`)).out);
  expect(items.find(({ id }: { id: string }) => id === old.id)).toMatchObject({ expiresAt: made.previousKeyUntil });
  await expect(run(`keys rotate ${old.id} ${app}`)).rejects.toThrow('already been rotated');
});

it('keys rotate NAME and keys show NAME use the latest key of a name, but keys delete NAME needs an id', async () => {
  const app = `--app ${admin.application}`;
  const name = fresh();
  const rotated = async () => JSON.parse((await run(`keys rotate ${name} ${app} --yes --json`)).out).id;
  const first = JSON.parse((await run(`keys create Mobile --name ${name} ${app} --json`)).out).id;
  const second = await rotated();
  await expect(run(`keys delete ${name} ${app} --yes`)).rejects.toThrow(
    `More than one application key is named ${name}: use one of ${first}, ${second}`,
  );
  expect(JSON.parse((await run(`keys show ${name} ${app} --json`)).out)).toMatchObject({ id: second });
  const third = await rotated();
  const { items } = JSON.parse((await run(`keys list ${app} --json`)).out);
  const named = items.filter((item: { name: string }) => item.name === name);
  expect(named).toMatchObject([
    { id: second, expiresAt: expect.any(String) },
    { id: third, expiresAt: null },
  ]);
});

it.each([
  ['keys', (name: string) => `create Backend --name ${name}`, /the previous application key key_\w+/, true],
  ['api-keys', (name: string) => `create ${name}`, /the previous secret/, false],
  [
    'webhooks',
    (name: string) => `create ${name} --endpoint https://a.example/ --event key.leaked`,
    /the previous secret/,
    false,
  ],
] as const)(
  '%s rotate asks for confirmation while the credential from before the last rotation is valid',
  async (kind, create, previous, isOfApplication) => {
    const name = fresh();
    const app = isOfApplication ? ` --app ${admin.application}` : '';
    await run(`${kind} ${create(name)}${app}`);
    const command = `${kind} rotate ${name}${app}`;
    await run(command);
    const reason = new RegExp(
      `${previous.source} is valid until .* UTC \\(.+\\), and another rotation ends its validity now`,
    );
    const refused = await run(command).catch((error: Error) => error);
    expect(refused).toBeInstanceOf(UsageError);
    expect((refused as Error).message).toMatch(`Cannot rotate ${name} without --yes: `);
    expect((refused as Error).message).toMatch(reason);
    await expect(run(command, { answers: ['n'] })).rejects.toThrow('Nothing was rotated');
    expect((await run(command, { answers: ['y'] })).questions).toEqual([
      expect.stringMatching(`Rotate ${name}\\? The previous`),
    ]);
    await run(`${command} --yes`);
    const clock = testClock();
    clock.advance(2 * 86_400_000);
    expect((await run(command, { answers: [], clock })).questions).toEqual([]);
  },
);

it('keys rotate refuses an adopted token, and suggests a remedy', async () => {
  const { application } = admin;
  const token = { token: 'default:production.0123456789abcdef', type: 'Backend', environment: 'Production' };
  const path = `/applications/${application}/keys`;
  const { id } = (await api('POST', `${path}/adopt`, 201, { ...token, name: 'Unleash' })) as { id: string };
  await expect(run(`keys rotate Unleash --app ${application}`)).rejects.toThrow(
    /Cannot rotate an adopted token: .* create a new token in Unleash, adopt it with `flagmeter keys adopt`/,
  );
  const { items } = JSON.parse((await run(`keys list --app ${application} --json`)).out);
  expect(items.find((item: { id: string }) => item.id === id)).toMatchObject({ expiresAt: null });
});
