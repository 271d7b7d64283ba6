import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { createKey } from '../support/binary.ts';
import { administrator } from './administrator.ts';

const admin = administrator();
const { run, api, fresh, running } = admin;

/** Runs a command with `--json`, and returns the parsed output. */
async function json(command: string): Promise<Record<string, unknown>> {
  return JSON.parse((await run(`${command} --json`)).out);
}

describe('show', () => {
  it.each([
    ['apps show', 'Shop', () => `/applications/${admin.application}`],
    ['features show', 'checkout --app Shop', () => `/applications/${admin.application}/features/checkout`],
    ['teams show', 'Default', () => `/teams/${running.service.credentials.teamId}`],
  ])('the command %s prints the response of the API', async (command, argv, path) => {
    await api('POST', `/applications/${admin.application}/features`, 201, { name: 'checkout' });
    const called = argv.replace('Shop', admin.application);
    expect(await json(`${command} ${called}`)).toEqual(await api('GET', path(), 200));
    expect((await run(`${command} ${called}`)).out).toMatch(/^ {2}[A-Z]\w+ +\S/);
  });

  it('show searches the list for an item if the API has no path for the item', async () => {
    await run(`keys create Mobile --app ${admin.application} --name phone`);
    const { id, type } = await json(`keys show phone --app ${admin.application}`);
    expect(type).toBe('Mobile');
    expect((await json(`keys show ${id} --app ${admin.application}`))['name']).toBe('phone');
    expect(await json(`envs show Staging --app ${admin.application}`)).toMatchObject({ name: 'Staging' });
  });
});

describe('update', () => {
  it('apps update changes only the given fields of an application', async () => {
    const name = fresh();
    const settings = '--origin https://a.example --origin https://b.example --accept-identities TRUE --rate 2.5';
    expect(await json(`apps update ${admin.application} --name ${name} ${settings}`)).toMatchObject({
      name,
      allowedOrigins: ['https://a.example', 'https://b.example'],
      acceptClientIdentities: true,
      rate: 2.5,
      burst: null,
    });
    expect(await json(`apps update ${name} --any-origin --rate default --burst 7`)).toMatchObject({
      name,
      allowedOrigins: [],
      acceptClientIdentities: true,
      rate: null,
      burst: 7,
    });
  });

  it('features update changes a feature, and removes its description', async () => {
    const feature = `checkout --app ${admin.application}`;
    await run(`features create ${feature} --description The+till`);
    expect(await json(`features update ${feature} --archived true`)).toMatchObject({
      description: 'The till',
      archived: true,
    });
    expect(await json(`features update ${feature} --description=`)).toMatchObject({
      description: null,
      archived: true,
    });
  });

  it('metrics update leaves the other fields unchanged, although the API replaces the whole metric', async () => {
    const metric = `sales --app ${admin.application}`;
    await run(`metrics create ${metric} --kind gauge --unit EUR`);
    expect(await json(`metrics update ${metric} --unit USD`)).toMatchObject({ kind: 'gauge', unit: 'USD' });
    expect(await json(`metrics update ${metric} --kind Counter`)).toMatchObject({ kind: 'counter', unit: 'USD' });
    const { kind, unit } = await json(`metrics update ${metric} --unit=`);
    expect([kind, unit]).toEqual(['counter', undefined]);
  });

  it('users update and teams update change a user and a team', async () => {
    const email = `${fresh()}@example.com`;
    await run(`users create ${email} --name Ada`);
    const { out } = await run(`users update ${email} --name Ada+L --role admin --json`);
    expect(JSON.parse(out)).toMatchObject({ email, name: 'Ada L', role: 'Admin' });
    const { teamId } = running.service.credentials;
    expect(await json(`teams update ${teamId} --name Default`)).toMatchObject({ name: 'Default' });
  });

  it.each([
    ['apps update Shop', 'Cannot use apps update without a change: give one of --name, --origin, '],
    ['metrics update m --app Shop', 'Cannot use metrics update without a change: give one of --kind, --unit'],
    ['apps update Here --any-origin --origin https://a.example', 'Cannot use --any-origin with --origin'],
    ['apps update Here --rate many', 'Cannot use --rate many: must be a number, or default'],
    ['apps update Here --accept-identities yes', 'Cannot use --accept-identities yes: must be true or false'],
  ])('the update command "%s" is refused', async (command, message) => {
    const attempt = run(command.replace('Here', admin.application));
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(message);
  });

  it('show and delete commands list the existing items if an item does not exist', async () => {
    const feature = `chekout --archived true --app ${admin.application}`;
    await run(`features create checkout --app ${admin.application}`);
    await expect(run(`features update ${feature}`)).rejects.toThrow(
      'There is no feature chekout; the nearest is checkout',
    );
  });
});

it('commands add members to a team and remove them from it', async () => {
  const email = `${fresh()}@example.com`;
  const team = fresh();
  await run(`teams create ${team}`);
  const { id } = await json(`users create ${email} --name Ada`);
  const asAdmin = { env: { FLAGMETER_TOKEN: admin.access } };
  expect((await run('members list', asAdmin)).out).toMatch(new RegExp(`^${email} +Ada +User .* ${id}$`, 'm'));
  expect(await json(`members show ${email}`)).toMatchObject({ id });
  expect(await json(`members add ${email}`)).toMatchObject({ id });
  await expect(run(`members remove ${email}`)).rejects.toThrow(
    'Cannot remove a member without --yes: standard input is not a terminal',
  );
  const { questions, err } = await run(`members remove ${email}`, { answers: ['y'] });
  expect(questions).toEqual([
    `Remove the member ${email} (${id}) at ${running.url}? A user who is in no other team is deleted. [y/N] `,
  ]);
  expect(err).toBe(`Removed the member ${email} (${id}) at ${running.url}\n`);
});

it('sign-in clients create prints a secret only for confidential clients', async () => {
  const create = (name: string, type: string) =>
    run(`clients create ${name} --redirect-uri https://app.example/cb${type}`);
  const open = await create('Open', '');
  expect(open.out).toMatch(/^ {2}Type +public$/m);
  expect(open.err).toBe('');
  const closed = await create('Closed', ' --type CONFIDENTIAL');
  expect(closed.out).toMatch(/^ {2}Client secret +\S{20,}$/m);
  expect(closed.err).toBe('Client secret: shown only once; keep it in a safe place\n');
  expect((await run('clients list')).out).toMatch(
    /^Closed +confidential +https:\/\/app\.example\/cb +2026-.* +signin_\w+$/m,
  );
});

describe('delete --json', () => {
  it.each([
    ['apps delete', 'Here', 'id'],
    ['envs delete', 'Staging --app Here', 'name'],
  ])('%s --json prints the deleted item', async (command, argv, key) => {
    const result = await run(`${command} ${argv.replace('Here', admin.application)} --yes --json`);
    const [named = ''] = argv.replace('Here', admin.application).split(' ');
    expect(result).toMatchObject({ out: `${JSON.stringify({ [key]: named, deleted: true })}\n`, err: '' });
  });
});

describe('a log', () => {
  it('audit without a subcommand lists the entries, beginning with the latest entry', async () => {
    const name = fresh();
    await run(`apps update ${admin.application} --name ${name}`);
    const { out } = await run('audit --action application --from 1h --limit 1');
    expect(out).toMatch(
      new RegExp(
        `^WHEN +ACTION +WHO +TARGET +CHANGES +REASON +FROM +FACTORS\n.* UTC +application\\.changed +First API key +${name} +name: .+ → ${name} +- +127\\.0\\.0\\.1 +-\n$`,
      ),
    );
  });

  it('audit --limit reports that there might be more entries', async () => {
    const { out, err } = await run('audit --limit 2 --json');
    expect(JSON.parse(out).items).toHaveLength(2);
    expect(err).toBe('There might be more than these 2: see --limit, --from and --to\n');
  });

  it('audit --actor filters the entries by a user, given by e-mail address or id', async () => {
    const { clientId } = running.service.credentials;
    expect((await run(`audit --actor ${clientId} --limit 1`)).out).toContain('First API key');
    expect((await run('audit --actor admin@localhost')).err).toBe('There are no entries of the audit log\n');
    await expect(run('audit --actor nobody@example.com')).rejects.toThrow('There is no user nobody@example.com');
  });

  it.each([
    ['audit --limit 0', 'Cannot use --limit 0: must be a whole number, at least 1'],
    ['audit --from soon', 'Cannot use --from soon: must be a time such as 7d'],
    ['audit list', "Cannot use the argument 'list': audit takes options only"],
  ])('the command %s is refused', async (command, message) => {
    await expect(run(command)).rejects.toThrow(UsageError);
    await expect(run(command)).rejects.toThrow(message);
  });

  it('the command "deletions" lists pending deletions', async () => {
    await run(`envs delete Staging --app ${admin.application} --yes`);
    const { out } = await run('deletions');
    expect(out).toMatch(new RegExp(`^DELETED .*\n[^]*UTC +environment +Staging +${admin.application}$`, 'm'));
  });
});

it.each(['teams show Other', 'teams delete Other --yes', 'webhooks list --team Other', 'apps create New --team Other'])(
  '"%s" is refused with exit code 4 if the caller is not in the team',
  async (command) => {
    const { id } = (await api('POST', '/teams', 201, { name: fresh() })) as { id: string };
    await expect(run(command.replace('Other', id))).rejects.toMatchObject({
      exitCode: 4,
      message: 'The caller is not in this team; one of its Admins can add users (not_in_team)',
    });
  },
);

describe('an object that does not exist', () => {
  it("delete shows the server's reason if an item is in the list but cannot be deleted", async () => {
    const { key } = await createKey(running.service.http, admin.access, admin.application, 'Mobile');
    const body = JSON.stringify({ k: key, e: 'Production', f: { seen: { on: [1] } } });
    const sent = await fetch(`${running.url}/api/frontend/telemetry`, { method: 'POST', body });
    expect(sent.status).toBe(202);
    const attempt = run(`features delete seen --yes --app ${admin.application}`);
    await expect(attempt).rejects.toMatchObject({ exitCode: 5, message: expect.stringMatching(/\(not_found\)$/) });
  });

  it.each([
    ['apps show SHOPPE', 'There is no application SHOPPE'],
    ['envs show production --app Here', 'There is no environment production; case matters, and there is Production'],
    [
      'envs delete production --yes --app Here',
      'There is no environment production; case matters, and there is Production',
    ],
    ['envs show Prodution --app Here', 'There is no environment Prodution; the nearest is Production'],
    ['envs show QA --app Here', 'There is no environment QA; there is Production, Staging, Development'],
  ])('the error of "%s" contains the name of the missing item', async (command, message) => {
    const attempt = run(command.replace('Here', admin.application));
    await expect(attempt).rejects.toMatchObject({ exitCode: 5, message: expect.stringContaining(message) });
  });
});
