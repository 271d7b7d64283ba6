import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { commandTable } from '../../src/commands/command-table.ts';
import { clientVariables } from '../../src/contract/client-variables.ts';
import { settings } from '../../src/contract/config-schema.ts';
import { healthKinds } from '../../src/contract/health.ts';
import { documents, findCode, root } from '../support/docs.ts';
import { endpoints } from '../support/endpoints.ts';

/** These tests check that every name in the docs exists. A failure shows the document and the name. */

/** Returns the names in the docs that `exists` rejects, as `path: name`. */
function unknown(names: (text: string) => readonly string[], exists: (name: string, path: string) => boolean) {
  return documents.flatMap(({ path, text }) =>
    names(text)
      .filter((name) => !exists(name, path))
      .map((name) => `${path}: ${name}`),
  );
}

/** Returns the anchors of a document's headings, as GitHub generates them. */
function listAnchors(path: string): string[] {
  const headings = readFileSync(join(root, path), 'utf8').matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the words and options of each command line of the executable in a text. */
function listCommandLines(text: string): string[][] {
  const lines = findCode(text).map((line) => line.replace(/(^|\s)#.*$/, ''));
  return lines.flatMap((line) =>
    Array.from(line.matchAll(/(?:^|[\s(])(?:dist\/)?flagmeter ([a-z-][^|;)>&]*)/g), ([, words = '']) =>
      words.trim().split(/[ =]+/),
    ),
  );
}

const commands = Object.values(commandTable).flatMap((entry) => entry.commands);
const commandOptions = commands.flatMap(({ options }) => options.map(({ name }) => name));
const settingOptions = settings.map(({ option }) => option);

/** True if the executable has this command and these options. */
function isRun([first = '', second = '', ...rest]: readonly string[]): boolean {
  if (first === 'ready') return true; // `serve` prints this line. It is not a command.
  const entry = (commandTable as Readonly<Record<string, (typeof commandTable)['apps']>>)[first];
  if (first === 'help') return second === '' || second in commandTable;
  if (entry === undefined) return false;
  const both = `${first} ${second}`;
  const known = entry.commands.filter(({ name }) => name === first || name === both);
  const isGroup = known.length === 0 && (second === '' || second === 'COMMAND');
  if (known.length === 0) return isGroup;
  const options = [second, ...rest].filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  const taken = [...known.flatMap((command) => command.options.map(({ name }) => name)), 'help'];
  return options.every((option) => taken.includes(option) || settingOptions.includes(option));
}

describe('names in the docs', () => {
  it('links and anchors in the docs exist', () => {
    const links = (text: string) => Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, link = '']) => link);
    const exists = (link: string, from: string) => {
      if (/^https?:/.test(link)) return true;
      const [file = '', anchor] = link.split('#');
      const path = file === '' ? from : join(dirname(from), file);
      return existsSync(join(root, path)) && (anchor === undefined || listAnchors(path).includes(anchor));
    };
    expect(unknown(links, exists)).toEqual([]);
  });

  it('paths of the repository in the docs exist', () => {
    const path = /(?<![\w./-])((?:src|test|bench|docs|native|proto|\.ci)\/[\w./-]*\w|[\w-]+\.ts)\b/g;
    const paths = (text: string) =>
      findCode(text).flatMap((code) => Array.from(code.matchAll(path), ([, name = '']) => name));
    const files = new Set(
      readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => basename(name)),
    );
    // The docs of the LMDB patches contain names of files in the LMDB package.
    const exists = (name: string) =>
      [root, join(root, 'node_modules/lmdb')].some((folder) => existsSync(join(folder, name))) || files.has(name);
    expect(unknown(paths, exists)).toEqual([]);
  });

  it('commands of the executable in the docs exist, with their options', () => {
    const runs = (text: string) => listCommandLines(text).map((words) => words.join(' '));
    expect(unknown(runs, (run) => isRun(run.split(' ')))).toEqual([]);
  });

  it('routes in the docs exist, with their methods', () => {
    const routes = Object.values(endpoints)
      .flat()
      .map(({ method, path }) => ({ method, path: path.replaceAll(/:\w+/g, '{}') }));
    const span = /^(?:([A-Z]+) )?(…?\/[\w./{}:-]+)(?:\?.*)?$/;
    const named = (text: string) => findCode(text).filter((code) => span.test(code));
    const exists = (code: string, from: string) => {
      if (from === 'docs/access.md') return true; // The tables are generated, and shorten the paths.
      const [, method, written = ''] = span.exec(code) ?? [];
      const path = written.replaceAll(/:\w+|\{\w+\}/g, '{}').replace('…', '');
      const isPath = (known: string) =>
        written.startsWith('…') ? known.endsWith(path) : known === path || known.startsWith(`${path}/`);
      return (
        /^\/(etc|lib|tmp|usr|var)(\/|$)/.test(path) ||
        routes.some((route) => isPath(route.path) && (method === undefined || route.method === method))
      );
    };
    expect(documents.flatMap(({ text }) => named(text)).length).toBeGreaterThan(50);
    expect(unknown(named, exists)).toEqual([]);
  });

  it('options in the docs exist', () => {
    const options = (text: string) =>
      findCode(text).flatMap((code) => /^--([a-z][a-z-]*)(?=$|[ =])/.exec(code)?.slice(1) ?? []);
    expect(unknown(options, (option) => [...settingOptions, ...commandOptions].includes(option))).toEqual([]);
  });

  it('environment variables in the docs exist', () => {
    const known: readonly string[] = [...settings.map(({ variable }) => variable), ...Object.values(clientVariables)];
    const names = (text: string) => text.match(/\bFLAGMETER_[A-Z_]*[A-Z]\b/g) ?? [];
    expect(unknown(names, (name) => known.includes(name))).toEqual([]);
  });

  it('npm scripts and benchmarks in the docs exist', () => {
    const scripts = (text: string) =>
      Array.from(text.matchAll(/npm run ([a-z][\w:-]*(?: -- [a-z][\w-]*)?)/g), ([, script = '']) => script);
    const benchmarks = readFileSync(join(root, 'bench/main.ts'), 'utf8');
    const exists = (script: string) => {
      const [name = '', argument] = script.split(' -- ');
      const isBenchmark = name !== 'bench' || argument === undefined || benchmarks.includes(`['${argument}',`);
      return name in packageJson.scripts && isBenchmark;
    };
    expect(unknown(scripts, exists)).toEqual([]);
  });

  it('log messages in the docs exist', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
      .join('');
    const messages = (text: string) =>
      Array.from(text.matchAll(/^\| (`[^|]+) \| (?:info|warn|error) \|/gm), ([, cell = '']) => cell).flatMap((cell) =>
        Array.from(cell.matchAll(/`([^`]+)`/g), ([, message = '']) => message),
      );
    expect(documents.flatMap(({ text }) => messages(text)).length).toBeGreaterThan(5);
    const kinds: readonly string[] = healthKinds;
    const exists = (message: string) => kinds.includes(message) || sources.includes(`'${message}'`);
    expect(unknown(messages, exists)).toEqual([]);
  });
});

it('the README is short', () => {
  expect(documents[0]?.text.split('\n').length).toBeLessThanOrEqual(90);
});
