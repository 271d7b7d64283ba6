import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/cli/api.ts';
import { checkOnlyOne } from '../../src/cli/find.ts';
import { administrator } from './administrator.ts';

const admin = administrator();
const { run, api } = admin;

describe('a second application of the same name', () => {
  it('apps create refuses a name that an application of the team has, and reports the id of that application', async () => {
    const name = admin.fresh();
    const first = JSON.parse((await run(`apps create ${name} --json`)).out);
    await expect(run(`apps create ${name}`)).rejects.toMatchObject({
      exitCode: 6,
      message: `The team already has an application ${name} (${first.id}); use it, or choose another name`,
    });
    await expect(run(`apps update ${admin.application} --name ${name}`)).rejects.toMatchObject({ exitCode: 6 });
  });

  it('apps create allows a name that an application of another team has', async () => {
    const items = [{ id: 'app_1', name: 'Shop', teamId: 'team_1' }];
    const me = { primaryTeam: 'team_2' };
    const api = { list: async () => items, call: async () => me } as unknown as Api;
    await checkOnlyOne(api, 'Shop', {});
    await checkOnlyOne(api, 'Shop', { id: 'app_1' });
    await expect(checkOnlyOne(api, 'Shop', { teamId: 'team_1' })).rejects.toThrow('(app_1)');
  });

  it('apps update can rename one of two applications of the same name by its id', async () => {
    const name = admin.fresh();
    const other = admin.fresh();
    const { id } = (await api('POST', '/applications', 201, { name })) as { id: string };
    const twin = (await api('POST', '/applications', 201, { name })) as { id: string };
    await expect(run(`envs list --app ${name}`)).rejects.toThrow(
      `More than one application is named ${name}: use one of ${id}, ${twin.id}`,
    );
    await run(`apps update ${twin.id} --rate 5`);
    await run(`apps update ${twin.id} --name ${other}`);
    expect((await run(`envs list --app ${name}`)).out).toContain('Production');
  });
});
