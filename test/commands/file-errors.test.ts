import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { explainFileError, readTextFile } from '../../src/runtime/files.ts';
import { type TestContext, testContext } from '../cli/fixture.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryDirectory } from '../support/temporary.ts';

let folder = '';

beforeEach(() => {
  folder = temporaryDirectory();
  writeFileSync(join(folder, 'text'), 'text');
  writeFileSync(join(folder, 'bad.json'), '{"listen":5}');
  writeFileSync(join(folder, longName), 'text');
  mkdirSync(join(folder, 'empty'));
});

/** Runs a command whose words may contain `DIR`, the directory of this file. */
async function run(command: string): Promise<TestContext['output']> {
  const context = { ...testContext(), readFile: readTextFile };
  const argv = command.split(' ').map((word) => word.replaceAll('DIR', folder));
  await runCommand(argv, context);
  return context.output;
}

/** The name of a file that leaves no room for the name of a temporary directory next to the file. */
const longName = 'x'.repeat(250);

const noFile = 'no such file or directory';
const notDirectory = 'a part of its path is not a directory';

describe('the path of a command', () => {
  it.each([
    ['verify DIR/none', 'Cannot use DIR/none: no such file; name another file, or mount its volume'],
    ['verify DIR/text/none', 'Cannot use DIR/text/none: no such file; name another file, or mount its volume'],
    [
      `verify DIR/${longName}`,
      `Cannot write DIR/${longName}.verify-…: its name is too long; copy the backup to a directory that this user can write to`,
    ],
    [
      'restore --from DIR/none --data DIR/new',
      'Cannot use DIR/none: no such file; name another file, or mount its volume',
    ],
    [
      'backup list DIR/none',
      'Cannot read backups in DIR/none: no such directory; name another directory, or mount its volume',
    ],
    ['serve --config DIR/none', `Cannot read --config DIR/none: ${noFile}; name a JSON file that this user can read`],
    ['serve --config DIR', 'Cannot read --config DIR: it is a directory; name a JSON file that this user can read'],
    [
      'verify --config DIR/text/none',
      `Cannot read --config DIR/text/none: ${notDirectory}; name a JSON file that this user can read`,
    ],
    [
      'support --data DIR/empty --out DIR/text',
      'Cannot write DIR/text: it already exists; name another file with --out',
    ],
    ['support --data DIR/empty --out DIR/none/x', `Cannot write DIR/none/x: ${noFile}; name another file with --out`],
    ['postgres key --out DIR/none/x', `Cannot write DIR/none/x: ${noFile}; name another file with --out`],
    ['features scan DIR/text/none', `Cannot scan DIR/text/none: ${notDirectory}; name a directory`],
    ['init --admin-email a@b --data DIR/text/none', `Cannot use the data directory DIR/text/none: ${notDirectory}`],
  ])('%s fails with the reason and the remedy', async (command, message) => {
    await expect(run(command)).rejects.toThrow(message.replaceAll('DIR', folder));
  });

  it.each([
    'restore --from DIR/none --data DIR/new/deeply/nested',
    'restore --from DIR/text --data DIR/new',
    'restore --from DIR/text --data DIR/new/../newer/nested/',
    'restore --from DIR/empty --latest --data DIR/new',
  ])('%s leaves no directory behind', async (command) => {
    const before = readdirSync(folder);
    await expect(run(command)).rejects.toThrow(/^Cannot (use|find)/);
    expect(readdirSync(folder)).toEqual(before);
    await expect(run(command.replace(/--data .*/, '--data DIR/empty'))).rejects.toThrow();
    expect(existsSync(join(folder, 'empty'))).toBe(true);
  });

  it('explainFileError omits the path of the option, and keeps unknown errors', () => {
    expect(explainFileError(Object.assign(new Error('x'), { code: 'ELOOP' }), 'p')).toBe(
      'its symbolic links form a loop',
    );
    expect(explainFileError(new Error('the file is UTF-16'), 'p')).toBe('the file is UTF-16');
  });
});

describe('flagmeter support', () => {
  it.each([
    ['--config DIR/none', /^Cannot read --config .*: no such file or directory/m],
    ['--config DIR/bad.json', /^Cannot use --listen 5 \(from .*bad\.json\): must be HOST:PORT/m],
  ])('flagmeter support %s reports wrong settings, and the sections that need no settings', async (options, reason) => {
    const { out } = await run(`support ${options} --data DIR/empty --log DIR/text --out -`);
    const section = (name: string) => out.split(/^== /m).find((each) => each.startsWith(`${name} ==`))!;
    expect(section('settings')).toMatch(reason);
    expect(section('files')).toContain(`${folder}/empty: used by no process; `);
    expect(section('health')).toContain('GET http://127.0.0.1:8080/healthz: ');
    expect(section('log')).toContain('(1 other lines left out)');
    expect(out.match(reason)).toHaveLength(1);
  });

  it('flagmeter support reports which of its sources cannot be read, and why', async () => {
    const { out } = await run('support --data DIR/none --log DIR/none --out -');
    expect(out).toContain(`Cannot read ${folder}/none: not a directory; name it with --data`);
    expect(out).toContain(`Cannot read ${folder}/none: no such file or directory`);
  });
});

describe('backup list', () => {
  it('backup list reports files whose names differ from the names of scheduled backups', async () => {
    const place = temporaryDirectory();
    for (const name of ['flagmeter-2026-01-02T03-04-05Z.backup', 'shop.backup', 'flagmeter-2026.backup'])
      writeFileSync(join(place, name), '');
    const { out, err } = await run(`backup list ${place}`);
    expect(out).toMatch(/^TIME +SIZE +NAME\n.* flagmeter-2026-01-02T03-04-05Z\.backup\n$/);
    expect(err).toMatch(
      /^Skipped (shop|flagmeter-2026)\.backup, (shop|flagmeter-2026)\.backup: the names of backups are like flagmeter-1970-01-01T00-00-00Z\.backup\n$/,
    );
  });
});
