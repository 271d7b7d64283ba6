import { expect, it } from 'vitest';
import { type ConfigSources, loadConfig } from '../../../src/serve/config.ts';

/** Loads from flags, variables and the file `f.json`; the file's content may be text or an object. */
function load(argv: string[], env: ConfigSources['env'], file: unknown) {
  const readFile = (path: string) => {
    if (path !== 'f.json') throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return typeof file === 'string' ? file : JSON.stringify(file);
  };
  return loadConfig({ argv, env, readFile });
}

const engine = 'postgres://flagmeter:pass@db1:5432,db2/flagmeter?sslmode=verify-full';

it.each<[string, string[], ConfigSources['env'], unknown]>([
  ['a flag', ['--engine', engine], {}, undefined],
  ['a variable', [], { FLAGMETER_ENGINE: engine }, undefined],
  ['the configuration file', ['--config=f.json'], {}, { engine }],
  ['a file of its own', ['--engine-file=f.json'], {}, `${engine}\n`],
  ['a file that a variable names', [], { FLAGMETER_ENGINE_FILE: 'f.json' }, engine],
])('takes the engine from %s', (_, argv, env, file) => {
  expect(load(argv, env, file)).toMatchObject({ engine, spoolMax: 4 * 1024 ** 3 });
});

it.each([
  [['--engine', engine, '--workers=2'], /--workers 2: must be 1 with --engine/],
  [['--engine', engine, '--engine-file=f.json'], /--engine-file: leave out --engine/],
  [['--engine-file=missing'], /--engine-file: cannot be read/],
  [['--engine-file=f.json'], /--engine-file: its text must begin with postgres:/],
  [['--engine=db1/flagmeter'], /--engine: must begin with postgres:/],
  [['--engine', engine, '--node-name='], /--node-name/],
])('refuses %j in words', (argv, words) => {
  expect(() => load(argv, {}, 'not a URL')).toThrow(words);
});
