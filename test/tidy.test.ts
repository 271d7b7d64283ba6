import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { longest } from './support/longest-first.ts';
import { needing } from './support/needing.ts';
import { findFolder, house, imports, importsOfSrc, read, root, type Source } from './support/sources.ts';

/** Rules for this repository that no other tool checks. A failure lists the files and lines that break a rule. */

const code = /\.(ts|tsx)$/;
const src = read('src', code);
const test = read('test', code);
const all = [...src, ...test, ...read('bench', code), ...read('chaos', code)];

/** Returns `path:line` of every matching line, except in sources whose path matches `allowed`. */
function matches(sources: readonly Source[], pattern: RegExp, allowed = /^$/): string[] {
  return sources
    .filter(({ path }) => !allowed.test(path))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    );
}

/** Lists every file and package that is loaded with a file: its imports, except types and `import()`. */
function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    const lines = src.find((source) => source.path === path)?.lines ?? [];
    const text = lines.join('\n').replace(/^import type [^;]*;/gm, '');
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export|\}) (?:[^;']* )?(?:from )?'([^']+)'/gm))
      loaded.add(specifier.startsWith('.') ? relative(root, join(root, dirname(path), specifier)) : specifier);
  }
  return loaded;
}

describe('dependencies', () => {
  it('src has at most eighteen folders and six files, and all its folders are listed', () => {
    const floors = new Set<string>(house);
    const homeless = src.map(({ path }) => path).filter((path) => !floors.has(path) && !floors.has(dirname(path)));
    expect(homeless).toEqual([]);
    const rooms = new Set(src.map(({ path }) => path.split('/')[1]!));
    const loose = [...rooms].filter((room) => room.includes('.'));
    expect(loose.length).toBeLessThanOrEqual(6);
    expect(rooms.size - loose.length).toBeLessThanOrEqual(18);
  });

  it('a file imports only from its own folder, and from folders that docs/architecture.md lists below it', () => {
    const order = (path: string) => house.indexOf(findFolder(path)!);
    const upward = importsOfSrc(src).filter(({ path, target }) => order(target) < order(path));
    expect(upward.map(({ path, line, specifier }) => `${path}:${line} ${specifier}`)).toEqual([]);
  });

  it.each([
    ['src/main.ts', ['oauth4webapi', 'lmdb', '@grpc/grpc-js', 'jose', 'piscina']],
    ['src/commands/server/serve.ts', ['oauth4webapi']],
  ])('%s does not load packages of other commands', (entry, packages) => {
    expect(loadedBy('src/cli/token-host.ts')).toContain('oauth4webapi');
    const loaded = loadedBy(entry);
    expect(packages.filter((name) => loaded.has(name))).toEqual([]);
  });

  it('the contract imports only the packages for schemas and for similar words', () => {
    const packages = imports(src)
      .filter(({ path, specifier }) => path.startsWith('src/contract/') && !specifier.startsWith('.'))
      .map(({ specifier }) => specifier);
    expect(new Set(packages)).toEqual(new Set(['typebox', 'fastest-levenshtein']));
  });

  it.each(['src/console', 'src/cli'])(
    'the folder %s imports only the contract from the code of the server',
    (folder) => {
      const others = importsOfSrc(src)
        .filter(({ path }) => path.startsWith(`${folder}/`) && !path.startsWith('src/console/host/'))
        .filter(({ target }) => ![`${folder}/`, 'src/contract/'].some((prefix) => target.startsWith(prefix)));
      expect(others).toEqual([]);
    },
  );

  it.each([
    ['lmdb', /^src\/storage\/lmdb\//],
    ['uWebSockets.js', /^src\/http\/engines\//],
    ['bun', /^src\/http\/engines\//],
  ])('the package %s is imported in one folder only', (name, folder) => {
    const found = imports(src).filter(({ specifier, path }) => specifier === name && !folder.test(path));
    expect(found).toEqual([]);
  });

  it('only the HTTP engines and the load generator use members of Bun other than Bun.version', () => {
    expect(matches(src, /\bBun\.(?!version)/, /^src\/(http\/engines|bench\/load)\//)).toEqual([]);
  });

  it('imports contain the extension of the imported file', () => {
    const bare = imports(all).filter(
      ({ specifier }) => /^\.\.?\//.test(specifier) && !/\.\w+$|\/Caddyfile$/.test(specifier),
    );
    expect(bare).toEqual([]);
  });
});

/** Returns the text of a tracked file; empty for a deleted file, a link or a submodule. */
function readText(path: string): string {
  const file = join(root, path);
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'latin1') : '';
}

describe('files', () => {
  // A long file is only reported, because it might be as long as its single purpose requires.
  beforeAll(() => {
    for (const { path, lines } of all)
      if (lines.length > 450 && !path.startsWith('test/fixtures/'))
        console.warn(`${path} has ${lines.length} lines. Does it have one job?`);
  });

  it('file names are in lower case, and are not vague words such as utils', () => {
    const banned = /^(utils?|helpers?|managers?|common|misc|shared|lib|stuff|types?-\d+|[^a-z].*|.*[A-Z_].*)$/;
    const parts = all.flatMap(({ path }) => path.split('/').map((part) => ({ path, part })));
    const bad = parts.filter(({ part }) => banned.test(basename(part).replace(/(\.test)?\.tsx?$/, '')));
    expect(bad.map(({ path }) => path)).toEqual([]);
  });

  it('a file that introduces a folder states the path of its own folder', () => {
    const wrong = src.flatMap(({ path, lines }) => {
      const [, named] = /^ \* (src\/[\w/-]+): /.exec(lines[1] ?? '') ?? [];
      return named === undefined || named === dirname(path) ? [] : [`${path}: ${named}`];
    });
    expect(wrong).toEqual([]);
  });

  needing('git').it('files contain no conflict markers', () => {
    const marker = /^(<{7} |={7}$|>{7} |\|{7} )/m;
    const listed = execFileSync('git', ['-c', `safe.directory=${root}`, 'ls-files', '-z'], { cwd: root });
    const tracked = String(listed).split('\0').filter(Boolean);
    const marked = tracked.filter((path) => marker.test(readText(path)));
    expect(tracked.length).toBeGreaterThan(1000);
    expect(marked).toEqual([]);
  });

  it('files contain no TODO comments, and no comments that disable a check', () => {
    expect(matches(all, /\b(TODO|FIXME|XXX|HACK)\b/, /^test\/tidy\.test\.ts$/)).toEqual([]);
    expect(matches(all, /@ts-(ignore|nocheck)|biome-ignore-all/, /^test\/tidy\.test\.ts$/)).toEqual([]);
  });
});

/** Maximum number of lines of a function that fits a screen. */
const screen = 60;

/** Returns the names and lengths of the functions of a formatted file, from the opening line to the closing line. */
function functions({ path, lines }: Source): { name: string; length: number }[] {
  const opening =
    /^( *)(?:export )?(?:default )?(?:async )?(?:function\*? (\w+)|(?:static |override |private )*(\w+)\(.*\).* \{$)/;
  return lines.flatMap((line, start) => {
    const [, indent = '', declared, method] = opening.exec(line) ?? [];
    const name = declared ?? method;
    if (name === undefined || ['if', 'for', 'while', 'switch', 'describe', 'it', 'catch'].includes(name)) return [];
    const end = lines.findIndex((later, index) => index > start && later.startsWith(`${indent}}`));
    return end < 0 ? [] : [{ name: `${path}:${start + 1} ${name}`, length: end - start + 1 }];
  });
}

/**
 * Maximum lines of each folder and loose file of `src`. A commit that raises a maximum explains the additional lines.
 */
const most: Readonly<Record<string, number>> = {
  accounts: 6068,
  auth: 10036,
  bench: 2959,
  cli: 6082,
  commands: 2848,
  console: 19403,
  contract: 8051,
  demo: 1435,
  grpc: 1823,
  http: 4893,
  ingest: 9385,
  'main.ts': 87,
  management: 6222,
  replication: 10554,
  reports: 7989,
  runtime: 1457,
  serve: 4528,
  storage: 14368,
  webhooks: 2120,
};

describe('lines', () => {
  it('lines have one assignment each, and no object literal is spread into another object', () => {
    const assignments = /^\s*((const|let) )?\[(?!\[)[^\]]*,[^\]]*\] = \[(?!.*\]\.).*\];$/;
    expect(matches(all, assignments)).toEqual([]);
    expect(matches(all, /[^.\w]\.\.\.\{/, /^test\/(tidy\.test\.ts|fixtures\/)/)).toEqual([]);
  });

  it('no folder of src has more lines than its maximum', () => {
    const lines = new Map<string, number>();
    for (const source of src) {
      const room = source.path.split('/')[1]!;
      lines.set(room, (lines.get(room) ?? 0) + source.lines.length - 1);
    }
    const grown = [...lines].filter(([room, count]) => count > (most[room] ?? 0));
    expect(grown).toEqual([]);
  });
});

describe('functions', () => {
  it(`functions fit a screen of ${screen} lines`, () => {
    expect(
      src.flatMap(functions).filter(({ length }) => length > screen),
      'functions longer than a screen',
    ).toEqual([]);
  });
});

describe('time and randomness', () => {
  it('only the clock and the context of the client read the time, and no code uses Math.random', () => {
    const reading = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bprocess\.hrtime\b|\bMath\.random\(/;
    expect(matches(src, reading, /^src\/(runtime\/clock\.ts|cli\/context\.ts|console\/|ingest\/snippet\/)/)).toEqual(
      [],
    );
  });

  it('unit tests neither sleep nor use random numbers, except tests about slow data on a socket', () => {
    const sleeping = /\bsetTimeout\(|\bMath\.random\(|from 'node:timers\/promises'/;
    expect(
      matches(
        test,
        sleeping,
        /^test\/(binary|faults|nodes|bench|chaos|browser|unleash-server|tidy|http\/conformance|fixtures\/\w+\/make)\b|\/support\//,
      ),
    ).toEqual([]);
  });
});

describe('tests', () => {
  it('tests are neither focused nor skipped', () => {
    expect(matches(test, /\b(describe|it|test)\.(only|skip|todo)\b/)).toEqual([]);
  });

  it('the test files that are configured to start first exist', () => {
    expect(longest.filter((path) => !test.some((source) => source.path === path))).toEqual([]);
  });
});
