import { expect, it } from 'vitest';
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

it('keys rotate NAME replaces the latest key of that name, and keys delete NAME asks for an id', async () => {
  const app = `--app ${admin.application}`;
  const name = fresh();
  const rotated = async () => JSON.parse((await run(`keys rotate ${name} ${app} --json`)).out).id;
  const first = JSON.parse((await run(`keys create Mobile --name ${name} ${app} --json`)).out).id;
  const second = await rotated();
  await expect(run(`keys delete ${name} ${app} --yes`)).rejects.toThrow(
    `More than one application key is named ${name}: use one of ${first}, ${second}`,
  );
  const third = await rotated();
  const { items } = JSON.parse((await run(`keys list ${app} --json`)).out);
  const named = items.filter((item: { name: string }) => item.name === name);
  expect(named).toMatchObject([
    { id: second, expiresAt: expect.any(String) },
    { id: third, expiresAt: null },
  ]);
});

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
