import { expect, it } from 'vitest';
import { type ConfigSources, loadConfig } from '../../../src/serve/config/config.ts';

/** Loads settings from options, variables and the file `f.json`, whose content can be a text or an object. */
function load(argv: string[], env: ConfigSources['env'], file: unknown) {
  const readFile = (path: string) => {
    if (path !== 'f.json') throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return typeof file === 'string' ? file : JSON.stringify(file);
  };
  return loadConfig({ argv, env, readFile });
}

const postgres = 'postgres://flagmeter:pass@db1:5432,db2/flagmeter?sslmode=verify-full';

it.each<[string, string[], ConfigSources['env'], unknown]>([
  ['an option', ['--postgres', postgres], {}, undefined],
  ['a variable', [], { FLAGMETER_POSTGRES: postgres }, undefined],
  ['the configuration file', ['--config=f.json'], {}, { postgres }],
  ['a separate file', ['--postgres-file=f.json'], {}, `${postgres}\n`],
  ['a file whose path is in a variable', [], { FLAGMETER_POSTGRES_FILE: 'f.json' }, postgres],
  ['the option of an earlier version', [`--engine=${postgres}`], {}, undefined],
  ['the variable of an earlier version', [], { FLAGMETER_ENGINE: postgres }, undefined],
  ['the key of an earlier version', ['--config=f.json'], {}, { engine: postgres }],
  ['the file option of an earlier version', ['--engine-file=f.json'], {}, postgres],
])('the server reads the URL of PostgreSQL from %s', (_, argv, env, file) => {
  expect(load(argv, env, file)).toMatchObject({ postgres, spoolMax: 4 * 1024 ** 3 });
});

it.each([
  [['--postgres', postgres, '--workers=2'], /--workers 2: must be 1 with --postgres/],
  [['--postgres', postgres, '--postgres-file=f.json'], /--postgres-file: leave out --postgres/],
  [['--postgres-file=missing'], /--postgres-file: cannot be read/],
  [['--postgres-file=f.json'], /--postgres-file: its text must begin with postgres:/],
  [['--postgres=db1/flagmeter'], /--postgres: must begin with postgres:/],
  [['--postgres', postgres, '--node-name='], /--node-name/],
])('the server refuses the PostgreSQL options %j, and reports the reason', (argv, words) => {
  expect(() => load(argv, {}, 'not a URL')).toThrow(words);
});
