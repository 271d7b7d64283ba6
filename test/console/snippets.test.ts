import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { KeyType } from '../../src/console/pages/application-settings/key-types.ts';
import { originFor, ownTargets } from '../../src/console/pages/first-run/snippets.ts';
import { safeJson, safeText, safeUrl, shellWord } from '../../src/console/pages/first-run/target.ts';
import { createApplication, createKey, freshDirectory, manage, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

const run = promisify(execFile);

const service = opened(startLocal);
let access: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
});

/** Environment names, one with characters that could end a quoted text. */
const environments = ['Production', `it's "quoted" $(id) \`id\` \\ \${x} %s {{x}} """ <now> --> Büro 🙂`];
const types: readonly KeyType[] = ['Frontend', 'Mobile', 'Backend'];
const allowedOrigins = ['https://*.shop.example', 'http://localhost:*'];

async function createSnippets(environment: string, keyType: KeyType = 'Backend') {
  const fields = { name: 'shop', environments: [environment], allowedOrigins };
  const id = await createApplication(service.http, access, fields);
  const { key } = await createKey(service.http, access, id, keyType);
  const metricsUrl = `http://${service.http}`;
  const connection = { metricsUrl, environment, key, keyType, allowedOrigins };
  const findCode = (wanted: string) => ownTargets.find(({ id }) => id === wanted)!.lines(connection).blocks[0]!.code;
  return { id, key, findCode };
}

/** Returns the counts of the flag that the snippets report. */
async function counted(id: string, environment: string): Promise<unknown> {
  const query = new URLSearchParams({ environment, feature: 'checkout' });
  const report = await manage(service.http, access, 'GET', `/api/v2/applications/${id}/usage?${query}`, 200);
  return (report as { features: { variants: object[] }[] }).features[0]?.variants[0];
}

const once = expect.objectContaining({ variant: 'on', checks: 1, used: 1 });

function saved(name: string, code: string): string {
  const path = join(freshDirectory(), name);
  writeFileSync(path, code);
  return path;
}

describe.each(environments)('snippets for the environment %s', (environment) => {
  needing('curl').test.each(types)('the curl snippet with a %s key sends a packet, which is counted', async (type) => {
    const { id, findCode } = await createSnippets(environment, type);
    const { stdout } = await run('bash', ['-c', findCode('curl')]);
    expect(stdout).toMatch(type === 'Backend' ? /^HTTP\/1.1 200/ : /^HTTP\/1.1 202/);
    expect(await counted(id, environment)).toEqual(once);
  });

  test('the Node.js snippet sends a packet, which is counted', async () => {
    const { id, findCode } = await createSnippets(environment);
    const { stdout } = await run('node', [saved('send.mjs', findCode('node'))]);
    expect(stdout).toBe('200 {"featureCount":1}\n');
    expect(await counted(id, environment)).toEqual(once);
  });

  test.each([
    // Patterns and functions that read a quoted text as each language does.
    ['dotnet', /= """(.*)"""/, (text: string) => text],
    ['php', /^ {4}'(.*)'\);$/m, (text: string) => text],
    ['java', /= """\n {8}(.*)"""/, (text: string) => text.replaceAll('\\\\', '\\')],
  ])('the report of the %s snippet is counted', async (language, pattern, read) => {
    const { id, key, findCode } = await createSnippets(environment);
    const quoted = pattern.exec(findCode(language))?.[1] ?? '';
    const body = read(quoted).replace('<now>', new Date().toISOString());
    expect(JSON.parse(body)).toMatchObject({ appKey: key, environment });
    const address = /"?'?(http[^"']*\/api\/usage\/stats)/.exec(findCode(language))?.[1] ?? '';
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(200);
    expect(await counted(id, environment)).toEqual(once);
  });
});

test.each([
  ['curl', ['Frontend', 'Mobile', 'Backend']],
  ['browser', ['Frontend']],
  ['fetch', ['Frontend']],
  ['node', ['Backend']],
  ['dotnet', ['Backend']],
  ['php', ['Backend']],
  ['java', ['Backend']],
])('the %s snippet uses keys of the types %j', (id, types) => {
  expect(ownTargets.find((target) => target.id === id)?.keyTypes).toEqual(types);
});

test.runIf(existsSync('/usr/bin/java'))(
  'the Java snippet sends a packet, which is counted',
  async () => {
    for (const environment of environments) {
      const { id, findCode } = await createSnippets(environment);
      const { stdout } = await run('java', [saved('Send.java', findCode('java'))]);
      expect(stdout).toBe('200 {"featureCount":1}\n');
      expect(await counted(id, environment)).toEqual(once);
    }
  },
  60_000,
);

test.each([
  [[], 'http://localhost'],
  [['https://shop.example'], 'https://shop.example'],
  [['https://*.shop.example'], 'https://www.shop.example'],
  [['http://localhost:*'], 'http://localhost'],
  [['null'], 'null'],
])('the curl snippet for the allowed origins %j sends the origin %s', (allowed, origin) => {
  expect(originFor(allowed)).toBe(origin);
});

describe('quoting', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', "'", '</script>', '$(x)'));

  test('quoting a text for a snippet preserves the text', () => {
    fc.assert(
      fc.property(text, (each) => {
        expect(JSON.parse(safeText(each))).toBe(each);
        expect(JSON.parse(safeJson({ k: each, list: [each, 1, null, true] }))).toEqual({
          k: each,
          list: [each, 1, null, true],
        });
      }),
    );
  });

  test('a text quoted for a snippet contains no character that ends the quotation or causes an expansion', () => {
    fc.assert(
      fc.property(text, (each) => {
        const inner = safeText(each).slice(1, -1);
        expect(inner.replaceAll(/\\u[0-9a-f]{4}/g, '')).not.toMatch(/["'`\\${}<>%\p{C}\u2028\u2029]/u);
      }),
    );
  });

  test('shellWord quotes any text as a single word of a shell', async () => {
    const texts = fc.sample(fc.string({ unit: 'grapheme' }), 40).filter((each) => !each.includes('\0'));
    const { stdout } = await run('bash', ['-c', `printf '%s\\n' ${texts.map(shellWord).join(' ')}`]);
    expect(stdout).toBe(texts.map((each) => `${each}\n`).join(''));
  });

  test.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/api/x'],
    ['https://shop.example/flags/', 'https://shop.example/flags/api/x'],
    ["https://shop.example/o'neil/$HOME", 'https://shop.example/o%27neil/%24HOME/api/x'],
  ])('safeUrl encodes the address %s as %s', (base, address) => {
    expect(safeUrl(base, '/api/x')).toBe(address);
  });
});
