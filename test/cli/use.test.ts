import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { createApplication, manage, token } from '../support/binary.ts';
import { runCommand } from '../support/run-command.ts';
import { type ContextOptions, testContext } from './fixture.ts';
import { runService } from './running-service.ts';
import { signInAt } from './sign-in.ts';

const running = runService();

/** Deletes all applications, and creates others. @returns their ids by name */
async function withApplications(...names: string[]): Promise<Readonly<Record<string, string>>> {
  const access = await token(running.service.http, running.service.credentials);
  const { items } = (await manage(running.service.http, access, 'GET', '/api/v2/applications', 200)) as {
    readonly items: readonly { readonly id: string }[];
  };
  for (const { id } of items) await manage(running.service.http, access, 'DELETE', `/api/v2/applications/${id}`, 204);
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = await createApplication(running.service.http, access, { name });
  return ids;
}

/** Signs in with a browser. The returned function runs commands of that user. */
async function signedIn() {
  const openBrowser = (address: string) => void signInAt(address, running.service.credentials);
  const options: ContextOptions = { clock: running.clock, openBrowser };
  const { env: first } = testContext(options);
  const folder = first['XDG_CONFIG_HOME']!;
  const run = async (command: string, env: Readonly<Record<string, string>> = {}) => {
    const context = testContext({ ...options, folder, env });
    expect(await runCommand(command.split(' '), context)).toBe(0);
    return context.output;
  };
  await run(`login --url ${running.url}`);
  return run;
}

describe('the default application', () => {
  it('commands use the only application', async () => {
    await withApplications('Shop');
    const run = await signedIn();
    expect((await run('envs list')).out).toContain('Production');
    expect((await run('use')).out).toMatch(/Application +Shop\n.*\n +Source +the only application\n/);
  });

  it('the error of a command without an application lists the applications', async () => {
    await withApplications('Blog', 'Shop');
    const run = await signedIn();
    await expect(run('envs list')).rejects.toThrow(UsageError);
    await expect(run('envs list')).rejects.toThrow(/without --app: there is Blog, Shop; or set FLAGMETER_APP/);
  });

  it('the command "use" sets the application until the sign-out, even if the session is renewed', async () => {
    await withApplications('Blog', 'Shop');
    const run = await signedIn();
    await run('envs create Canary --app Shop');
    expect((await run('use Shop')).err).toMatch(/ use the application Shop \(app_\w+\)\n$/);
    expect((await run('envs list')).out).toContain('Canary');
    running.clock.advance(3_600_000);
    expect((await run('envs list')).out).toContain('Canary');
    expect((await run('use')).out).toMatch(/Application +Shop\n.*\n +Source +flagmeter use\n/);
    await run(`login --url ${running.url}`);
    expect((await run('envs list')).out).toContain('Canary');
    await run('logout');
    await run(`login --url ${running.url}`);
    await expect(run('envs list')).rejects.toThrow(/without --app/);
  });

  it('--app takes precedence over FLAGMETER_APP, and FLAGMETER_APP over the command "use"', async () => {
    await withApplications('Blog', 'Shop', 'News');
    const run = await signedIn();
    for (const name of ['Blog', 'Shop', 'News']) await run(`envs create Of-${name} --app ${name}`);
    await run('use Blog');
    expect((await run('envs list')).out).toContain('Of-Blog');
    expect((await run('envs list', { FLAGMETER_APP: 'Shop' })).out).toContain('Of-Shop');
    expect((await run('envs list --app News', { FLAGMETER_APP: 'Shop' })).out).toContain('Of-News');
  });

  it('an error about a deleted default application names its source and the remedy', async () => {
    const { Blog } = await withApplications('Blog', 'Shop', 'News');
    const run = await signedIn();
    await run('use Blog');
    await run('apps delete Blog --yes');
    await expect(run('envs list')).rejects.toThrow(
      `${Blog} is the default application of flagmeter use: choose another with flagmeter use APP, or give --app`,
    );
    await expect(run('envs list', { FLAGMETER_APP: 'Old' })).rejects.toThrow(
      'Old is the default application of FLAGMETER_APP: change FLAGMETER_APP, or give --app',
    );
  });

  it('the command "use" requires a sign-in, and names alternatives if the environment has credentials', async () => {
    await withApplications('Shop');
    const { clientId, clientSecret } = running.service.credentials;
    const url = { FLAGMETER_URL: running.url };
    const use = (env: Readonly<Record<string, string>>) =>
      runCommand(['use', 'Shop'], testContext({ clock: running.clock, env: { ...url, ...env } }));
    await expect(use({})).rejects.toThrow(`Not signed in to ${running.url}`);
    const others = 'set FLAGMETER_APP, or give --app';
    await expect(use({ FLAGMETER_CLIENT_ID: clientId, FLAGMETER_CLIENT_SECRET: clientSecret })).rejects.toThrow(
      `Cannot store a default application with the API key in FLAGMETER_CLIENT_ID: ${others}`,
    );
    const access = await token(running.service.http, running.service.credentials);
    await expect(use({ FLAGMETER_TOKEN: access })).rejects.toThrow(
      `Cannot store a default application with the token in FLAGMETER_TOKEN: ${others}`,
    );
  });

  it('the message about a deletion contains the name of the application', async () => {
    await withApplications('Shop');
    const run = await signedIn();
    expect((await run('envs delete Staging --yes')).err).toContain('the environment Staging of Shop at ');
  });

  it('the former names of --env are accepted', async () => {
    await withApplications('Shop');
    const run = await signedIn();
    expect((await run('usage --environment Staging')).out).toMatch(/^Shop, Staging, /);
  });
});
