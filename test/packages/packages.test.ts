import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { freshDirectory, requireBinary } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { epoch, packagesOf, root, sharedRelease } from './fixture.ts';

const { describe } = needing('dpkg');

describe('the packages of an executable', () => {
  let out: string;
  /** Folders of the unpacked tar.gz and of the unpacked .deb. */
  let unpacked: string;
  let installed: string;

  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  const deb = () => join(out, 'flagmeter_1.2.3-1_amd64.deb');
  const textIn = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

  beforeAll(() => {
    out = sharedRelease();
    const scratch = freshDirectory();
    run('tar', '-xzf', join(out, 'flagmeter-1.2.3-linux-x64.tar.gz'), '-C', scratch);
    unpacked = join(scratch, 'flagmeter-1.2.3-linux-x64');
    installed = join(scratch, 'deb');
    run('dpkg-deb', '--extract', deb(), installed);
  }, 300_000);

  test('any user in any folder builds the same packages, and their checksums are listed', () => {
    const later = new Date();
    utimesSync(requireBinary(), later, later);
    const again = elsewhere(() => packagesOf('1.2.3'));
    expect(textIn(again, 'SHA256SUMS')).toBe(textIn(out, 'SHA256SUMS'));
    const names = readdirSync(out).filter((name) => name !== 'SHA256SUMS');
    expect(names).toEqual(expectedNames);
    expect(execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: again, encoding: 'utf8' })).toBe(
      names.map((name) => `${name}: OK\n`).join(''),
    );
  }, 300_000);

  test('the packages contain a working executable, and entries owned by root with the time of the commit', () => {
    expect(run(join(unpacked, 'flagmeter'), 'version')).toContain('linux x64');
    expect(run(join(installed, 'usr/bin/flagmeter'), 'version')).toContain('linux x64');
    const listed = run(
      'tar',
      '-tvzf',
      join(out, 'flagmeter-1.2.3-linux-x64.tar.gz'),
      '--numeric-owner',
      '--full-time',
      '--utc',
    );
    const time = new Date(epoch * 1000).toISOString().slice(0, 19).replace('T', ' ');
    for (const line of listed.trim().split('\n')) expect(line).toMatch(new RegExp(`^\\S+ 0/0 +\\d+ ${time} `));
    expect(run('dpkg-deb', '--contents', deb())).not.toMatch(/^\S+ (?!root\/root)/m);
  });

  test('the manual in the tar.gz installs only files that the tar.gz contains', () => {
    const commands = textIn(unpacked, 'docs/install.md').matchAll(/^install (?:-\S+ (?:\d+ |-t \S+ )*)*(\w\S*) ?/gm);
    const named = Array.from(commands, ([, path]) => path!);
    expect(named).toEqual(expect.arrayContaining(['flagmeter', 'flagmeter.service', 'man/*.1']));
    const packed = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    expect(packed).toEqual(expect.arrayContaining(named.map((path) => path.replace('*', 'flagmeter'))));
  });

  test('the .deb has its metadata, its conffiles and correct checksums', () => {
    expect(run('dpkg-deb', '--info', deb(), 'conffiles')).toBe('/etc/flagmeter/flagmeter.json\n');
    const fields = ['Package', 'Version', 'Architecture', 'Depends'];
    expect(
      run('dpkg-deb', '--field', deb(), ...fields)
        .trim()
        .split('\n'),
    ).toEqual(['Package: flagmeter', 'Version: 1.2.3-1', 'Architecture: amd64', 'Depends: adduser, libc6 (>= 2.34)']);
    const sums = run('dpkg-deb', '--info', deb(), 'md5sums');
    execFileSync('md5sum', ['--check', '--strict', '-'], { cwd: installed, input: sums, stdio: 'pipe' });
  });

  test.each([
    'operations.md',
    'alerts/flagmeter.yml',
    'dashboards/flagmeter.json',
    ...readdirSync(join(root, 'docs/examples/proxy')).map((name) => `examples/proxy/${name}`),
  ])('the packages contain the file docs/%s of the project', (path) => {
    const text = textIn(join(root, 'docs'), path);
    expect(textIn(unpacked, `docs/${path}`)).toBe(text);
    expect(textIn(installed, `usr/share/doc/flagmeter/${path}`)).toBe(text);
  });

  test('the example configuration in the packages has only valid settings', () => {
    const readFile = (path: string) => textIn(installed, path);
    const read = loadConfig({ argv: ['--config', 'etc/flagmeter/flagmeter.json'], env: {}, readFile });
    expect(() => checkPublicUrls(read)).not.toThrow();
    expect(read).toMatchObject({ data: '/var/lib/flagmeter', listen: '127.0.0.1:8080' });
  });

  test.each([
    ['bash', 'flagmeter.bash', 'usr/share/bash-completion/completions/flagmeter'],
    ['zsh', '_flagmeter', 'usr/share/zsh/vendor-completions/_flagmeter'],
    ['fish', 'flagmeter.fish', 'usr/share/fish/vendor_completions.d/flagmeter.fish'],
  ])('the completion script for %s in the packages is the output of the executable', (shell, inFolder, inDebian) => {
    const printed = run(requireBinary(), 'completion', shell);
    expect(textIn(unpacked, `completions/${inFolder}`)).toBe(printed);
    expect(textIn(installed, inDebian)).toBe(printed);
  });

  needing('man-db').test.each(['flagmeter.1', 'flagmeter-serve.1'])('the manual page %s is well-formed', (name) => {
    const env = { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '100' };
    const page = join(installed, `usr/share/man/man1/${name}.gz`);
    const script = 'man --warnings --local-file "$0" 2>&1 | col -b';
    const shown = execFileSync('bash', ['-c', script, page], { env, encoding: 'utf8' });
    expect(shown).not.toMatch(/^troff: |:\d+: warning|error:/m);
    const said =
      name === 'flagmeter.1'
        ? ['flagmeter apps create', '130 interrupted']
        : ['--queue-high-packets', 'FLAGMETER_DATA'];
    for (const words of said) expect(shown).toContain(words);
  });

  needing('lintian').test(
    'lintian reports only overridden tags, and every override is needed',
    () => {
      const options = ['--allow-root', '--display-info', '--pedantic', '--show-overrides'];
      const { stdout, stderr } = spawnSync('lintian', [...options, deb()], { encoding: 'utf8' });
      const tags = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.startsWith('N:'));
      const overridden = textIn(installed, 'usr/share/lintian/overrides/flagmeter').matchAll(/^flagmeter: (\S+)/gm);
      const expected = Array.from(overridden, ([, tag]) => `O: flagmeter: ${tag}`);
      // lintian also reports overrides that are no longer needed.
      expect(new Set(tags.map((line) => line.split(' ').slice(0, 3).join(' ')))).toEqual(new Set(expected));
    },
    300_000,
  );

  needing('systemd').test('the unit is valid, and systemd-analyze rates its exposure low', () => {
    const unit = join(installed, 'flagmeter.service');
    const text = textIn(installed, 'lib/systemd/system/flagmeter.service');
    writeFileSync(unit, text.replace('/usr/bin/flagmeter', join(installed, 'usr/bin/flagmeter')));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    expect(stdout + stderr).not.toContain('flagmeter');
    // The exposure ranges from 0 to 10. A value of 2.0 counts as "OK".
    const shown = run('systemd-analyze', 'security', '--offline=true', '--no-pager', unit);
    const [, exposure] = /Overall exposure level .*: (\d+\.\d) /.exec(shown) ?? [];
    expect(Number(exposure), shown).toBeLessThanOrEqual(1.3);
  });
});

/** The files of a release for linux-x64, except the checksums. */
const expectedNames = [
  'NOTES.md',
  'flagmeter-1.2.3-image.tar',
  'flagmeter-1.2.3-linux-x64.cdx.json',
  'flagmeter-1.2.3-linux-x64.tar.gz',
  'flagmeter-1.2.3.tgz',
  'flagmeter-chart-1.2.3.tgz',
  'flagmeter-linux-x64-1.2.3.tgz',
  'flagmeter-openfeature-1.2.3.tgz',
  'flagmeter_1.2.3-1_amd64.deb',
];

/** Runs a function as another user would: with another umask, time zone, language, home and temp directory. */
function elsewhere<T>(work: () => T): T {
  const home = freshDirectory();
  const { env } = process;
  const umask = process.umask(0o077);
  const other = { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', HOME: home, USER: 'other', TMPDIR: home };
  process.env = { ...env, ...other };
  try {
    return work();
  } finally {
    process.env = env;
    process.umask(umask);
  }
}
