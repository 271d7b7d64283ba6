import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Binary, type Credentials, freshDirectory } from './binary.ts';
import { freePorts } from './free-ports.ts';
import { runBinary } from './run-binary.ts';

/** Runs commands. @param secret given wherever a command accepts a secret @returns the output of all commands */
export async function tellCommands(service: Binary, credentials: Credentials, secret: string) {
  return (
    (await askServer(service, credentials, secret)) + (await backUp(service)) + (await startWithWrongSecrets(secret))
  );
}

async function askServer({ http }: Binary, { clientId, clientSecret }: Credentials, secret: string): Promise<string> {
  const source = freshDirectory();
  writeFileSync(join(source, 'shop.ts'), `const password = '${secret}'; isOn('checkout');`);
  const commands = [
    ['apps', 'list'],
    ['keys', 'list', '--app', 'shop', '--json'],
    ['whoami'],
    ['audit'],
    ['features', 'scan', source, '--app', 'shop', '--sarif'],
    ['features', 'scan', source, '--app', 'shop', '--json'],
  ];
  const refused = [['whoami'], ['audit']];
  const known = { FLAGMETER_CLIENT_ID: clientId };
  const runs: readonly (readonly [Record<string, string>, readonly string[][]])[] = [
    [{ ...known, FLAGMETER_CLIENT_SECRET: clientSecret }, commands],
    [{ ...known, FLAGMETER_CLIENT_SECRET: secret }, refused],
    [{ FLAGMETER_TOKEN: secret }, refused],
  ];
  let written = '';
  for (const [env, all] of runs)
    for (const args of all) {
      const { stdout, stderr } = await runBinary([...args, '--url', `http://${http}`], {
        ...env,
        HOME: freshDirectory(),
      });
      written += stdout + stderr;
    }
  return written;
}

async function backUp({ data }: Binary): Promise<string> {
  const copy = join(freshDirectory(), 'copy.backup');
  let written = '';
  const commands = [
    ['backup', '--data', data, '--to', copy],
    ['verify', copy],
  ];
  for (const args of commands) {
    const { code, stdout, stderr } = await runBinary(args);
    expect(code).toBe(0);
    written += stdout + stderr;
  }
  return written;
}

async function startWithWrongSecrets(secret: string): Promise<string> {
  const serve = ['serve', '--data', join(freshDirectory(), 'data'), ...freePorts];
  const away = `postgres://flagmeter:${secret}@127.0.0.1:1/flagmeter`;
  const refused: readonly (readonly [readonly string[], Record<string, string>])[] = [
    [['postgres', 'status', '--postgres', away], {}],
    [serve, { FLAGMETER_POSTGRES: `mysql://${secret}` }],
    [serve, { FLAGMETER_POSTGRES: `${away}?sslmode=${secret}` }],
    [serve, { FLAGMETER_POSTGRES: away, FLAGMETER_POSTGRES_KEY_FILE: secret }],
    [serve, { FLAGMETER_TLS_KEY: secret }],
  ];
  let written = '';
  for (const [args, env] of refused) {
    const { code, stdout, stderr } = await runBinary(args, { ...env, HOME: freshDirectory() });
    expect([code, stdout]).not.toEqual([0, '']);
    expect(stderr).not.toBe('');
    written += stdout + stderr;
  }
  return written;
}
