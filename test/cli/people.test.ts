import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/run-command.ts';
import { administrator } from './administrator.ts';
import { type ContextOptions, testContext } from './fixture.ts';

const admin = administrator();
const { api } = admin;

async function run(command: string, options: ContextOptions = {}) {
  const env = { FLAGMETER_URL: admin.running.url, FLAGMETER_TOKEN: admin.access };
  const context = testContext({ clock: admin.running.clock, ...options, env });
  const code = await runCommand(['people', ...command.split(' ')], context);
  return { code, ...context.output, questions: context.questions };
}

/** Sends a packet with an identity in Production, and reads the data that is stored about the identity. */
async function seen(identity: string) {
  const path = `/applications/${admin.application}`;
  await api('PATCH', path, 200, { acceptClientIdentities: true });
  const { key } = (await api('POST', `${path}/keys`, 201, { type: 'Frontend' })) as { key: string };
  const packet = { k: key, e: 'Production', u: identity, f: { checkout: { on: [1] } } };
  const { status } = await fetch(`${admin.running.url}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { origin: 'https://shop.example', 'content-type': 'application/json' },
    body: JSON.stringify(packet),
  });
  expect(status).toBe(202);
  return async () => {
    const query = `${path}/identities/${encodeURIComponent(identity)}/exposures?environment=Production`;
    return ((await api('GET', query, 200)) as { exposures: unknown[] }).exposures;
  };
}

describe('people forget', () => {
  it.each(['user-7', 'ann/1', 'a%2Fb', '…'])('people forget deletes the data of the identity %j', async (identity) => {
    const kept = await seen(identity);
    expect(await kept()).toHaveLength(1);
    const { code, err } = await run(`forget ${identity} --app ${admin.application} --yes`);
    expect([code, err]).toEqual([0, expect.stringContaining(`Forgot the identity ${identity} of Shop`)]);
    expect(await kept()).toEqual([]);
  });

  it('people forget accepts an identity that a path cannot contain, and prints JSON', async () => {
    const { out } = await run(`forget .. --app ${admin.application} --yes --json`);
    expect(JSON.parse(out)).toEqual({ identity: '..', forgotten: false });
  });

  it('people forget reports an unknown identity, and the audit log records that result', async () => {
    const reasons = async () => {
      const { items } = (await api('GET', '/audit?action=identity.forgotten', 200)) as { items: object[] };
      return items.map((entry) => (entry as { reason?: string }).reason);
    };
    const kept = await seen('user-10');
    const forget = () => run(`forget user-10 --app ${admin.application} --yes`);
    expect((await forget()).err).toContain('Forgot the identity user-10');
    expect((await reasons())[0]).toBeUndefined();
    expect(await kept()).toEqual([]);
    expect((await forget()).err).toMatch(/^Nothing was stored about the identity user-10 of Shop/);
    expect((await reasons())[0]).toBe('nothing_stored');
  });

  it('people forget asks for confirmation, and deletes nothing if the answer is not yes', async () => {
    const kept = await seen('user-8');
    const refused = run(`forget user-8 --app ${admin.application}`, { answers: ['n'] });
    await expect(refused).rejects.toThrow('Nothing was forgotten');
    expect(await kept()).toHaveLength(1);
    const { questions } = await run(`forget user-8 --app ${admin.application}`, { answers: ['y'] });
    expect(questions).toEqual([expect.stringContaining('in every environment. [y/N] ')]);
    expect(await kept()).toEqual([]);
  });

  it.each([
    ['forget user-9 --app Shop', /without --yes/],
    ['forget --app Shop --yes', /without IDENTITY/],
    ['forgot', /forget/],
  ])('people refuses the arguments %j', async (command, why) => {
    await expect(run(command)).rejects.toThrow(why);
  });
});
