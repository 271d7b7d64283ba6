import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/run-command.ts';
import { administrator } from './administrator.ts';
import { testContext } from './fixture.ts';

const admin = administrator();
const { api, running } = admin;

async function run(command: string) {
  const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
  const context = testContext({ clock: running.clock, env });
  const argv = command.replace('Here', admin.application).split(' ').filter(Boolean);
  const result = runCommand(['health', ...argv], context);
  const failure = await result.then(
    () => undefined,
    ({ message, exitCode }) => ({ message, exitCode }),
  );
  return { ...context.output, failure };
}

async function leak() {
  const path = `/applications/${admin.application}/keys`;
  const { key } = (await api('POST', path, 201, { type: 'Backend', name: 'Billing' })) as { key: string };
  const { status } = await fetch(`${running.url}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { origin: 'https://shop.example', 'content-type': 'application/json' },
    body: JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } } }),
  });
  expect(status).toBe(404);
}

describe('health', () => {
  it('health exits with code 0 if nothing is urgent', async () => {
    const { out, failure } = await run('--app Here --env Production');
    expect(out).toMatch(/^SEVERITY +FINDING +SUBJECTS +ENVIRONMENT\ninfo +set up +Production +Production\n$/);
    expect(failure).toBeUndefined();
  });

  it('health lists the most urgent findings first, and exits with code 8', async () => {
    await leak();
    const { out, failure } = await run('--app Here');
    expect(out).toMatch(/\nurgent +key leaked +Billing +-\ninfo +/);
    expect(failure).toEqual({ message: 'There is 1 urgent finding', exitCode: 8 });
  });

  it('health without --app covers all applications, also with --json', async () => {
    await leak();
    const { out, failure } = await run('');
    expect(out).toMatch(/^APPLICATION +SEVERITY +FINDING .*\nShop +urgent +key leaked +/);
    expect(failure?.exitCode).toBe(8);
    const found = JSON.parse((await run('--json')).out) as { items: { kind: string }[] };
    expect(found.items[0]?.kind).toBe('key_leaked');
  });

  it('health refuses an unknown environment, and an environment of several applications', async () => {
    expect((await run('--app Here --env Nowhere')).failure).toMatchObject({ exitCode: 5 });
    const { failure } = await run('--env Production');
    expect(failure?.message).toMatch(/^Cannot choose an application without --app: /);
  });
});
