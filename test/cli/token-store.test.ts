import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTokenStore, type StoredSession, withSession } from '../../src/cli/token-store.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { testContext } from './fixture.ts';

const session: StoredSession = {
  authUrl: 'https://auth.example',
  clientId: 'flagmeter-cli',
  scope: 'openid flagmeter',
  accessToken: 'a.b.c',
  expiresAt: 1,
  refreshToken: 'r',
};
const url = 'https://flags.example';

function readMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe('the token store', () => {
  it('the token store keeps one session for each server, in a file that only its user can read', async () => {
    const context = testContext();
    const store = openTokenStore(context);
    expect(store.read()).toEqual({ current: null, servers: {} });
    await store.exclusively(async () => {
      store.write({ ...withSession(store.read(), url, session), current: url });
      store.write(withSession(store.read(), 'https://other.example', session));
    });
    expect(openTokenStore(context).read()).toEqual({
      current: url,
      servers: { [url]: session, 'https://other.example': session },
    });
    const file = context.credentialsFile;
    expect([readMode(file), readMode(dirname(file))]).toEqual(['600', '700']);
    expect(readdirSync(dirname(file))).toEqual(['credentials.json']);
  });

  it('the token store makes an existing folder and file private', async () => {
    const context = testContext();
    const file = context.credentialsFile;
    mkdirSync(dirname(file), { mode: 0o755 });
    writeFileSync(file, '{"current":null,"servers":{}}');
    chmodSync(file, 0o644);
    const store = openTokenStore(context);
    await store.exclusively(async () => store.write(withSession(store.read(), url, session)));
    expect([readMode(file), readMode(dirname(file))]).toEqual(['600', '700']);
  });

  it.each([
    ['XDG_CONFIG_HOME', { XDG_CONFIG_HOME: '/xdg', HOME: '/home' }, '/xdg/flagmeter/credentials.json'],
    ['HOME', { XDG_CONFIG_HOME: '', HOME: '/home' }, '/home/.config/flagmeter/credentials.json'],
    ['HOME', { XDG_CONFIG_HOME: 'relative', HOME: '/home' }, '/home/.config/flagmeter/credentials.json'],
  ])('the token store uses the folder in the variable %s', (_name, env, path) => {
    const root = temporaryDirectory();
    const within = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? root + value : value]),
    );
    mkdirSync(dirname(root + path), { recursive: true });
    writeFileSync(root + path, JSON.stringify({ current: 'https://here.example', servers: {} }));
    expect(openTokenStore(testContext({ env: within })).read().current).toBe('https://here.example');
  });

  it.each(['', '{', '[]', '{"current":null}', '{"current":null,"servers":{"https://x":{"accessToken":1}}}'])(
    'the token store reports a file with %j as damaged, and keeps it unchanged',
    (text) => {
      const context = testContext();
      const file = context.credentialsFile;
      mkdirSync(dirname(file));
      writeFileSync(file, text);
      expect(() => openTokenStore(context).read()).toThrow(
        `Cannot use ${file}: the file is damaged; remove it, then sign in again`,
      );
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it('the token store reports a folder that cannot be created, with its path', async () => {
    const root = temporaryDirectory();
    writeFileSync(`${root}/file`, '');
    const store = openTokenStore(testContext({ folder: `${root}/file` }));
    await expect(store.exclusively(async () => {})).rejects.toThrow(`Cannot write ${root}/file/flagmeter: `);
  });

  it('the token store keeps the previous file if the new file cannot be written', async () => {
    const context = testContext();
    const store = openTokenStore(context);
    await store.exclusively(async () => {
      store.write(withSession(store.read(), url, session));
      const toJSON = () => {
        throw new Error('not JSON');
      };
      const unwritable = Object.assign({ ...session }, { toJSON });
      expect(() => store.write(withSession(store.read(), url, unwritable))).toThrow('Cannot write');
    });
    expect(store.read().servers[url]).toEqual(session);
    expect(existsSync(`${context.credentialsFile}.lock`)).toBe(false);
  });
});
