import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { UsageError } from '../../src/cli/options.ts';
import { init } from '../../src/commands/entries/data-directory.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { lockDataDirectory } from '../../src/storage/lmdb/lock.ts';

const root = mkdtempSync(join(tmpdir(), 'flagmeter-init-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function freshDirectory(): string {
  return join(root, randomBytes(6).toString('hex'));
}

interface CommandResult {
  readonly code: number;
  readonly out: string;
}

/** Runs `init`. `files` contains the texts of the files that the command can read, by path. */
async function run(argv: string[], files: Record<string, string> = {}, env = {}): Promise<CommandResult> {
  let out = '';
  const code = await init.run(argv, {
    out: (text) => {
      out += text;
    },
    interactive: false,
    err: () => {},
    env,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error('ENOENT: no such file');
      return text;
    },
  });
  return { code, out };
}

const admin = ['--admin-email', 'admin@example.com'];

describe('flagmeter init', () => {
  it('init --json prints one JSON object and nothing else', async () => {
    const data = freshDirectory();
    const { code, out } = await run(['--data', data, ...admin, '--json']);
    expect(code).toBe(0);
    expect(out).toMatch(/^\{.*\}\n$/);
    const made = JSON.parse(out);
    expect(Object.keys(made)).toEqual(['adminEmail', 'adminPassword', 'teamId', 'clientId', 'clientSecret']);
    expect(made.adminEmail).toBe('admin@example.com');
  });

  it('init without --json prints the credentials as text', async () => {
    const { out } = await run(['--data', freshDirectory(), ...admin]);
    for (const label of ['Administrator ', 'Password ', 'Client id ', 'Client secret ']) {
      expect(out).toMatch(new RegExp(`^ {2}${label} +\\S+$`, 'm'));
    }
  });

  it.each(['password.txt', '-'])('init reads the password from the first line of %s', async (path) => {
    const data = freshDirectory();
    const argv = ['--data', data, ...admin, '--json', `--admin-password-file=${path}`];
    const { out } = await run(argv, { [path]: 'correct horse battery\r\nsecond line\n' });
    expect(JSON.parse(out).adminPassword).toBe('correct horse battery');
    const store = openAccountTables(data);
    const [user] = [...store.users.getRange()].map(({ value }) => value);
    expect(user?.email).toBe('admin@example.com');
    expect(await verifyPassword('correct horse battery', user?.passwordHash ?? '')).toBe(true);
    await store.lmdb.close();
  });

  it.each([
    ['too short', 'must have at least 12 characters'],
    ['password1234', 'must not be one of the most common passwords'],
    ['my flagmeter password', 'must not contain the name of this service'],
    ['administrator and admin', 'must not contain the e-mail address'],
  ])('init refuses the password %s, and prepares nothing', async (password, fault) => {
    const data = freshDirectory();
    const argv = ['--data', data, ...admin, '--admin-password-file=p'];
    await expect(run(argv, { p: `${password}\n` })).rejects.toThrow(
      `Cannot use the file that --admin-password-file names: the password in its first line ${fault}`,
    );
    expect(existsSync(join(data, 'accounts'))).toBe(false);
  });

  it('init uses the data directory in the environment', async () => {
    const data = freshDirectory();
    await run(admin, {}, { FLAGMETER_DATA: data });
    expect(existsSync(join(data, 'accounts'))).toBe(true);
  });

  it('init refuses a prepared directory and changes nothing', async () => {
    const data = freshDirectory();
    await run(['--data', data, ...admin]);
    const before = readFileSync(join(data, 'accounts/data.mdb'));
    await expect(run(['--data', data, '--admin-email', 'other@example.com'])).rejects.toThrow(
      `Cannot prepare ${data}: it is already prepared; nothing was changed`,
    );
    expect(readFileSync(join(data, 'accounts/data.mdb')).equals(before)).toBe(true);
  });

  it('init refuses a directory that a server is using', async () => {
    const data = freshDirectory();
    const lock = lockDataDirectory(data);
    await expect(run(['--data', data, ...admin])).rejects.toThrow(`process ${process.pid} is using it`);
    lock.release();
    expect((await run(['--data', data, ...admin])).code).toBe(0);
  });

  it.each([
    ['no file has that name', {}],
    ['the file is too short', { 'hunter2-hunter2': 'short' }],
  ])('the error does not repeat a password that was given in place of a file name: %s', async (_, files) => {
    const attempt = run(['--data', freshDirectory(), ...admin, '--admin-password-file', 'hunter2-hunter2'], files);
    await expect(attempt).rejects.toThrow('--admin-password-file');
    await expect(attempt).rejects.not.toThrow('hunter2');
  });

  it.each<[string[], Record<string, string>, string]>([
    [[], {}, 'Cannot use init without --admin-email'],
    [['--admin-email', 'admin'], {}, 'Cannot use --admin-email admin: must be one address'],
    [['--admin-email', 'a@b, c@d'], {}, 'must be one address'],
    [['--admin-email', 'a@b\nc'], {}, 'must be one address'],
    [['--admin-email', `${'a'.repeat(251)}@b.c`], {}, 'must be one address'],
    [[...admin, '--admin-password-file', 'p'], {}, 'Cannot read the file that --admin-password-file names: '],
    [[...admin, '--admin-password-file', 'p'], { p: '' }, 'must have at least 12 characters'],
    [[...admin, '--admin-password-file', 'p'], { p: '\nlong enough password' }, 'must have at least 12'],
    [[...admin, '--admin-password-file', 'p'], { p: 'elevenchars\n' }, 'must have at least 12 characters'],
    [[...admin, '--admin-password-file', 'p'], { p: 'x'.repeat(5_000) }, 'at most 1024 bytes'],
    [[...admin, '--workers', '2'], {}, 'Unknown option --workers'],
    [[...admin, '--json=yes'], {}, '--json does not take a value'],
  ])('init refuses %j with the files %j, and does not touch the directory', async (argv, files, message) => {
    const data = freshDirectory();
    const attempt = run(['--data', data, ...argv], files);
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(message);
    expect(existsSync(data)).toBe(false);
  });
});
