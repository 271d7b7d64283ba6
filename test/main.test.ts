import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { helpText } from '../src/commands/help.ts';
import { freshDirectory } from './support/binary.ts';
import { temporaryDirectory } from './support/temporary.ts';

const root = join(import.meta.dirname, '..');

/** Folder of the code that Bun compiles at the first startup. */
const compiled = freshDirectory();

function flagmeter(...argv: string[]) {
  const env = { PATH: process.env['PATH'], HOME: temporaryDirectory(), BUN_RUNTIME_TRANSPILER_CACHE_PATH: compiled };
  const ended = spawnSync(join(root, 'node_modules/.bin/bun'), [join(root, 'src/main.ts'), ...argv], {
    env,
    encoding: 'utf8',
  });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

describe('flagmeter', () => {
  it('flagmeter without a command shows the help on stderr and exits with 2', () => {
    expect(flagmeter()).toEqual({ code: 2, out: '', err: helpText() });
  });

  it.each([[['help']], [['--help']], [['-h']]])('flagmeter with the arguments %j shows the help', (argv) => {
    expect(flagmeter(...argv)).toEqual({ code: 0, out: helpText(), err: '' });
  });

  it('a command exits with 3 if no user is signed in', () => {
    expect(flagmeter('apps', 'list', '--url', 'http://127.0.0.1:8080')).toEqual({
      code: 3,
      out: '',
      err: 'Not signed in to http://127.0.0.1:8080; sign in with: flagmeter login --url http://127.0.0.1:8080\n',
    });
  });

  it.each([[['help', 'serve']], [['serve', '--help']], [['serve', '--workers', '2', '-h']]])(
    'flagmeter with the arguments %j shows the help of the command',
    (argv) => {
      expect(flagmeter(...argv)).toEqual({ code: 0, out: helpText('serve'), err: '' });
    },
  );

  it.each(['version', '--version', '-v'])('flagmeter %s prints the version and the runtime', (name) => {
    const { code, out, err } = flagmeter(name);
    expect(out).toMatch(/^flagmeter \d+\.\d+\.\d+ \(Bun [\d.]+, \w+ \w+\)\n$/);
    expect([code, err]).toEqual([0, '']);
  });

  it.each([
    [['serv'], 'Unknown command serv; the nearest known one is serve\n'],
    [['--data', 'x'], 'Unknown command --data; flagmeter help lists all commands\n'],
    [['init', '--jason'], 'Unknown option --jason; the nearest known one is --json\n'],
    [['serve', '--port', '80'], 'Unknown option --port; use --listen HOST:PORT, such as --listen :8080\n'],
    [['version', '--x'], 'Unknown option --x; this command takes no options\n'],
    [['--version', '--x=secret'], 'Unknown option --x; this command takes no options\n'],
    [['version', 'x'], "Cannot use the argument 'x': this command takes no arguments\n"],
    [['init'], 'Cannot use init without --admin-email\n'],
    [['apps', 'lst'], 'Unknown command apps lst; the nearest known one is apps list\n'],
    [['login', '--stor'], 'Unknown option --stor; the nearest known one is --store\n'],
  ])('flagmeter exits with 2 for the wrong arguments %j', (argv, err) => {
    expect(flagmeter(...argv)).toEqual({ code: 2, out: '', err });
  });
});
