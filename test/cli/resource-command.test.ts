import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import type { ResourceName } from '../../src/contract/resources/resources.ts';
import { createApplication } from '../support/binary.ts';
import { administrator } from './administrator.ts';

const admin = administrator();
const { running, run, api, fresh } = admin;

describe.each<{ resource: ResourceName; path: () => string; create: (name: string) => string; field: string }>([
  { resource: 'apps', path: () => '/applications', create: (name) => name, field: 'name' },
  {
    resource: 'keys',
    path: () => `/applications/${admin.application}/keys`,
    create: (name) => `Frontend --app ${admin.application} --name ${name}`,
    field: 'name',
  },
  {
    resource: 'envs',
    path: () => `/applications/${admin.application}/environments`,
    create: (name) => `${name} --app ${admin.application}`,
    field: 'name',
  },
  {
    resource: 'features',
    path: () => `/applications/${admin.application}/features`,
    create: (name) => `${name} --app ${admin.application} --description What+it+is`,
    field: 'name',
  },
  {
    resource: 'metrics',
    path: () => `/applications/${admin.application}/metrics`,
    create: (name) => `${name} --app ${admin.application} --kind gauge --unit EUR`,
    field: 'name',
  },
  { resource: 'users', path: () => '/users', create: (name) => `${name}@example.com --name Some+Body`, field: 'email' },
  {
    resource: 'api-keys',
    path: () => `/teams/${running.service.credentials.teamId}/api-keys`,
    create: (name) => name,
    field: 'name',
  },
])('$resource', ({ resource, path, create, field }) => {
  const called = (name: string) => (field === 'email' ? `${name}@example.com` : name);
  const within = () => (path().startsWith('/applications/') ? ` --app ${admin.application}` : '');

  it('commands create, list and delete items, and print text', async () => {
    const name = fresh();
    const made = await run(`${resource} create ${create(name)}`);
    expect(made.out).toMatch(new RegExp(`^ {2}\\w[\\w ]*  +${called(name)}$`, 'm'));
    const listed = await run(`${resource} list${within()}`);
    expect(listed.out).toMatch(/^[A-Z][A-Z -]+\n/);
    expect(listed.out).toMatch(new RegExp(`\\b${called(name)}\\b`));
    const deleted = await run(`${resource} delete ${called(name)}${within()} --yes`);
    expect([deleted.out, deleted.questions]).toEqual(['', []]);
    expect(deleted.err).toMatch(new RegExp(`^Deleted the [\\w ]+ ${called(name)}( \\(\\w+\\))?( of Shop)? at http://`));
    const after = await run(`${resource} list${within()} --json`);
    expect(after.out).not.toContain(called(name));
  });

  it('list commands print tables that fit the terminal', async () => {
    await run(`${resource} create ${create(`${fresh()}-${'x'.repeat(100)}`)}`);
    const { out } = await run(`${resource} list${within()}`, {}, { width: 80 });
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(out).toContain('…');
  });

  it('delete commands without a terminal and without --yes send no request', async () => {
    const fetch = () => {
      throw new Error('a request was sent');
    };
    const attempt = run(`${resource} delete x${within()}`, {}, { fetch });
    await expect(attempt).rejects.toThrow(/^Cannot delete an? [\w ]+ without --yes: standard input is not a terminal$/);
    await expect(attempt).rejects.toBeInstanceOf(UsageError);
  });

  it('create and list commands with --json print the response of the API', async () => {
    const name = fresh();
    const made = JSON.parse((await run(`${resource} create ${create(name)} --json`)).out);
    expect(made[field]).toBe(called(name));
    const listed = await run(`${resource} list${within()} --json`);
    expect(listed.out).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(listed.out)).toEqual(await api('GET', `${path()}?limit=200`, 200));
  });
});

describe('list', () => {
  it('list commands print the items of all pages', async () => {
    const names = Array.from({ length: 201 }, (_, index) => `f${index}`);
    for (const name of names) await api('POST', `/applications/${admin.application}/features`, 201, { name });
    const { out } = await run(`features list --app ${admin.application} --json`);
    const { items, nextCursor } = JSON.parse(out);
    expect(items.map((item: { name: string }) => item.name)).toEqual(names.toSorted());
    expect(nextCursor).toBeNull();
  });

  it('features list --archived false omits archived features', async () => {
    await api('POST', `/applications/${admin.application}/features`, 201, { name: 'old' });
    await api('PATCH', `/applications/${admin.application}/features/old`, 200, { archived: true });
    await api('POST', `/applications/${admin.application}/features`, 201, { name: 'new' });
    const { out } = await run(`features list --app ${admin.application} --archived false`);
    expect(out).toMatch(/^NAME .*\nnew +new +declared/);
    expect(out).not.toMatch(/^old/m);
  });

  it('features list filters by verdict, and fails with --fail-if-any if a feature matches', async () => {
    const { application } = admin;
    await api('POST', `/applications/${application}/features`, 201, { name: 'next' });
    expect((await run(`features list --app ${application} --verdict new`)).out).toMatch(/^next +new/m);
    const none = await run(`features list --app ${application} --verdict safe-to-remove --fail-if-any`);
    expect(none).toMatchObject({ out: '', err: 'There are no features\n' });
    const asInApi = await run(`features list --app ${application} --verdict Safe_to_remove`);
    expect(asInApi).toMatchObject({ out: '', err: none.err });
    await expect(run(`features list --app ${application} --verdict safe`)).rejects.toThrow(
      /must be snoozed, .*safe-to-remove/,
    );
    const failing = (flags: string) => run(`features list --app ${application} ${flags} --fail-if-any`);
    await expect(failing('--verdict new')).rejects.toMatchObject({ exitCode: 8, message: 'There is 1 feature' });
  });

  it('list commands report an empty list in words, and print an empty list as JSON with --json', async () => {
    expect(await run(`keys list --app ${admin.application}`)).toMatchObject({
      out: '',
      err: 'There are no application keys\n',
    });
    expect(await run(`keys list --app ${admin.application} --json`)).toMatchObject({
      out: '{"items":[],"nextCursor":null}\n',
      err: '',
    });
  });
});

describe('secrets of commands', () => {
  it.each([
    ['keys create Backend --app', 'Key', 'key'],
    ['api-keys create', 'Client secret', 'clientSecret'],
  ])('%s prints the secret once, with a warning', async (command, label, field) => {
    const rest = () => {
      const name = fresh();
      return { keys: admin.application, 'api-keys': name }[command.split(' ')[0] as 'keys'];
    };
    const text = await run(`${command} ${rest()}`);
    expect(text.out).toMatch(new RegExp(`^  ${label} +\\S{16,}$`, 'm'));
    expect(text.err).toBe(`${label}: shown only once; keep it in a safe place\n`);
    const json = await run(`${command} ${rest()} --json`);
    expect(JSON.parse(json.out)[field]).toMatch(/^\S{16,}$/);
    expect(json.err).toBe(text.err);
  });

  it('users create prints the link for the user once, with a warning', async () => {
    const email = `${fresh()}@example.com`;
    const link = 'http://\\S+/connect/invitation#[\\w-]{43}';
    const made = await run(`users create ${email} --name N`);
    expect(made.out).toMatch(new RegExp(`^  Invitation +${link}$`, 'm'));
    expect(made.err).toBe('Invitation: shown only once; keep it in a safe place\n');
    const again = await run(`users reset-link ${email} --end-sessions`);
    expect(again.out).toMatch(new RegExp(`^  Url +${link}$`, 'm'));
    expect((await run('users list')).out).toMatch(new RegExp(`^${email} .* invited, until \\d{4}-`, 'm'));
    const shown = JSON.parse((await run(`users show ${email} --json`)).out);
    expect(shown.invitation).toEqual({ purpose: 'invitation', expiresAt: expect.any(String) });
    expect((await run(`users withdraw-link ${email}`)).out).toContain(shown.id);
    await expect(run(`users withdraw-link ${email}`)).rejects.toThrow('neither an invitation nor a reset link');
  });

  it('commands print the warning about a secret only if the response has a secret', async () => {
    expect((await run(`keys create Frontend --app ${admin.application}`)).err).toBe('');
  });

  it('users create reads the password from a file, and does not print it', async () => {
    const files = { p: 'correct horse battery\nsecond line' };
    const { out, err } = await run(`users create ${fresh()}@example.com --name N --password-file p`, { files });
    expect(out + err).not.toMatch(/password|horse/i);
  });
});

describe('an item named by a command', () => {
  it('a command finds an item first by id and then by name, and refuses a name that two items share', async () => {
    const id = await createApplication(running.service.http, admin.access, { name: admin.application });
    expect((await run(`envs create ${fresh()} --app ${admin.application}`)).out).toContain('Name');
    const attempt = run('envs list --app Shop');
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(/^More than one application is named Shop: use one of app_/);
    expect((await run(`apps delete ${admin.application} --yes`)).err).toContain(`Shop (${admin.application})`);
    expect((await run(`apps delete ${admin.application} --yes`)).err).toContain(`${admin.application} (${id})`);
  });

  it('the option --team of create commands names the team of the new item', async () => {
    const team = await run('teams create Other+team --json');
    const { id } = JSON.parse(team.out);
    await api('DELETE', `/teams/${id}`, 403);
    const name = fresh();
    const made = await run(
      `apps create ${name} --team ${running.service.credentials.teamId} --env One --env Two --json`,
    );
    expect(JSON.parse(made.out)).toMatchObject({
      teamId: running.service.credentials.teamId,
      environments: [{ name: 'One' }, { name: 'Two' }],
    });
    const user = await run(`users create ${name}@example.com --name N --team Default --role Admin --json`);
    expect(JSON.parse(user.out)).toMatchObject({ role: 'Admin', teams: [running.service.credentials.teamId] });
  });

  it.each(['.', '..'])('an item name in an argument cannot change the path of the request: %s', async (name) => {
    await expect(run(`envs delete ${name} --app ${admin.application} --yes`)).rejects.toThrow(
      new UsageError(`Cannot use the name '${name}': not allowed in an address`),
    );
    await api('GET', `/applications/${admin.application}`, 200);
  });

  it('an item name can contain the special characters of a URL', async () => {
    const name = 'a/b?c#d%2e';
    await run(`envs create ${name} --app ${admin.application}`);
    expect((await run(`envs delete ${name} --app ${admin.application} --yes`)).err).toContain(name);
    const left = (await run(`envs list --app ${admin.application} --json`)).out;
    expect(JSON.parse(left).items).toHaveLength(3);
  });
});

function withoutYes(what: string): string {
  return `Cannot delete ${what} without --yes: standard input is not a terminal`;
}

describe('failures of commands', () => {
  it.each([
    ['envs create Production --app Here', 6, /\(conflict\)$/],
    ['envs delete Nowhere --app Here --yes', 5, /^There is no environment Nowhere; there is Production, /],
    ['apps delete Nowhere --yes', 5, /^There is no application Nowhere/],
    ['apps list --url http://127.0.0.1:9', 7, /^Cannot reach/],
    ['apps create Here --team Nowhere', 5, /^There is no team Nowhere; there is Default/],
  ])('%s fails with exit code %i', async (command, exitCode, message) => {
    if (command.includes('Here')) await createApplication(running.service.http, admin.access, { name: 'Here' });
    const attempt = run(command.replace('--app Here', `--app ${admin.application}`));
    await expect(attempt).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
  });

  it('a command fails with exit code 4 if the caller lacks a role', async () => {
    const { clientId, clientSecret } = JSON.parse((await run(`api-keys create ${fresh()} --json`)).out);
    const env = { FLAGMETER_TOKEN: '', FLAGMETER_CLIENT_ID: clientId, FLAGMETER_CLIENT_SECRET: clientSecret };
    expect((await run('apps list', { env })).out).toContain(admin.application);
    await expect(run(`apps create ${fresh()}`, { env })).rejects.toMatchObject({
      exitCode: 4,
      message: 'This requires an API key with the scope admin (forbidden)',
    });
  });

  it.each([
    ['apps delete Nowhere --url http://127.0.0.1:9', withoutYes('an application')],
    ['keys delete x --app Nowhere', withoutYes('an application key')],
    ['apps', 'Cannot use apps alone: use one of list, show, create, update, delete'],
    ['apps lst', 'Unknown command apps lst; the nearest known one is apps list'],
    ['apps constructor', 'Unknown command apps constructor: use one of list, show, create, update, delete'],
    ['apps create', 'Cannot use apps create without NAME'],
    ['keys create Front --app x', 'Cannot use keys create with Front: must be Frontend, Mobile or Backend'],
  ])('the command "%s" ends with a usage error', async (command, message) => {
    await expect(run(command)).rejects.toThrow(new UsageError(message));
  });
});
