import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linkTo } from '../../src/accounts/code-scans.ts';
import { createUser } from '../../src/accounts/users.ts';
import { refusal } from '../auth/fixture.ts';
import { openRegistry } from './registry.ts';

const place = (path: string, line: number, ...owners: string[]) => ({ path, line, owners });
const createScan = (features: Record<string, readonly object[]>, more: object = {}) => ({
  files: 12,
  ...more,
  features: Object.entries(features).map(([name, references]) => ({
    name,
    count: Math.max(1, references.length),
    references,
  })),
});

const link = 'https://git.example/shop/blob/{revision}/{path}#L{line}';

test('each feature shows its places in the scan, with owners and links', async () => {
  const { ask, see, clock } = await openRegistry();
  see({ f: { search: { on: [1] } } });
  const scan = createScan({ search: [place('src/a b#.ts', 7, '@shop/web')] }, { link, revision: '9fceb02' });
  const put = await ask('PUT', '/code-scans/shop%2Fweb', scan);
  const at = new Date(clock.now()).toISOString();
  const shown = { repository: 'shop/web', revision: '9fceb02', scannedAt: at };
  expect(put).toMatchObject({ status: 200, json: { ...shown, files: 12, features: 1 } });
  expect((await ask('GET', '/code-scans')).json.items).toEqual([put.json]);
  const url = 'https://git.example/shop/blob/9fceb02/src/a%20b%23.ts#L7';
  expect((await ask('GET', '/features/search')).json).toMatchObject({
    declared: false,
    owners: [{ type: 'text', id: null, name: '@shop/web' }],
    ownersFrom: 'codeowners',
    code: [{ ...shown, count: 1, missingSince: null, references: [{ ...place('src/a b#.ts', 7, '@shop/web'), url }] }],
  });
  expect((await ask('GET', '/features')).json.items).toMatchObject([{ ownersFrom: 'codeowners' }]);
  expect((await ask('DELETE', '/code-scans/shop%2Fweb')).status).toBe(204);
  expect((await ask('GET', '/features/search')).json).toMatchObject({ code: [], owners: [] });
});

test('declared owners replace the owners from CODEOWNERS, which include members by e-mail address', async () => {
  const { ask, directory, team } = await openRegistry();
  const ada = await createUser(directory, {
    email: 'ada@shop.example',
    name: 'Ada',
    teams: [team.id],
    role: 'User',
    passwordHash: 'x',
  });
  await ask('POST', '/features', { name: 'a' });
  const owners = ['Ada@shop.example', 'b@x.example'];
  await ask('PUT', '/code-scans/web', createScan({ a: [place('x', 1, ...owners), place('y', 2, 'b@x.example')] }));
  expect((await ask('GET', '/features/a')).json.owners).toEqual([
    { type: 'text', id: null, name: 'b@x.example' },
    { type: 'user', id: ada.id, name: 'Ada' },
  ]);
  const declared = [{ type: 'text', id: null, name: 'QA' }];
  await ask('PATCH', '/features/a', { owners: declared });
  expect((await ask('GET', '/features/a')).json).toMatchObject({ owners: declared, ownersFrom: 'declaration' });
  expect((await ask('GET', '/features?owner=b@x.example')).json.items).toEqual([]);
});

test('a feature counts as missing since the first scan that did not find it', async () => {
  const { ask, clock } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  const put = (features: Record<string, readonly object[]>) => ask('PUT', '/code-scans/web', createScan(features));
  const missing = async () => (await ask('GET', '/features/a')).json.code[0].missingSince;
  await put({ a: [place('x', 1)] });
  expect(await missing()).toBeNull();
  clock.advance(86_400_000);
  await put({});
  const since = new Date(clock.now()).toISOString();
  clock.advance(86_400_000);
  await put({ b: [] });
  expect(await missing()).toBe(since);
  await put({ a: [] });
  expect(await missing()).toBeNull();
});

test('an application has scans of at most 20 repositories, and a scan can always be replaced', async () => {
  const { ask } = await openRegistry();
  for (let at = 0; at < 20; at += 1) expect((await ask('PUT', `/code-scans/r${at}`, createScan({}))).status).toBe(200);
  expect(await ask('PUT', '/code-scans/more', createScan({}))).toMatchObject(refusal(409, 'conflict'));
  expect((await ask('PUT', '/code-scans/r3', createScan({ a: [] }))).json.features).toBe(1);
});

test('the scans of an application have at most 10 000 features in total, and a scan can be replaced', async () => {
  const { ask } = await openRegistry();
  const features = (repository: string) =>
    Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`${repository}-${at}`, []]));
  for (const repository of ['web', 'app', 'web'])
    expect((await ask('PUT', `/code-scans/${repository}`, createScan(features(repository)))).status).toBe(200);
  expect(await ask('PUT', '/code-scans/api', createScan({ search: [] }))).toMatchObject(
    refusal(409, 'conflict', expect.stringContaining('10000 features')),
  );
});

test('the owners of a feature are the owners from the last scan of every repository', async () => {
  const { ask } = await openRegistry();
  await ask('POST', '/features', { name: 'a' });
  const names = async () =>
    (await ask('GET', '/features')).json.items.flatMap(({ owners }: { owners: { name: string }[] }) =>
      owners.map(({ name }) => name),
    );
  await ask('PUT', '/code-scans/web', createScan({ a: [place('x', 1, '@web', '@all')] }));
  await ask('PUT', '/code-scans/app', createScan({ a: [place('x', 1, '@app', '@all')] }));
  expect((await names()).toSorted()).toEqual(['@all', '@app', '@web']);
  await ask('PUT', '/code-scans/app', createScan({ a: [place('x', 1, '@api')] }));
  expect((await names()).toSorted()).toEqual(['@all', '@api', '@web']);
  await ask('DELETE', '/code-scans/web');
  expect(await names()).toEqual(['@api']);
});

test.each([
  ['javascript:alert(1)//{path}'],
  ['https://{path}/x'],
  ['https://git.example@evil.example/{path}'],
  ['ftp://git.example/{path}'],
  ['https://git.example/x'],
  ['https://git.example/{path} x'],
  ['https://git.example/{revision}/{path}'],
])('a code scan with the link template %s is refused', async (bad) => {
  const { ask } = await openRegistry();
  const refused = await ask('PUT', '/code-scans/web', createScan({}, { link: bad }));
  expect(refused).toMatchObject(refusal(400, 'invalid_body'));
  expect((await ask('GET', '/code-scans')).json.items).toEqual([]);
});

test('a code scan with too many references is refused', async () => {
  const { ask } = await openRegistry();
  const places = Array.from({ length: 20 }, (_, at) => place('x', at + 1));
  const features = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`f${at}`, places]));
  expect((await ask('PUT', '/code-scans/web', createScan(features))).json.code).toBe('invalid_body');
});

const text = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

test('a link to code leads to the host of its template for any path and revision', () => {
  fc.assert(
    fc.property(fc.string({ unit: text }), fc.string({ unit: text }), (path, revision) => {
      const url = new URL(linkTo(link, revision, { path, line: 3 }));
      expect(url.origin).toBe('https://git.example');
      expect(url.hash).toBe('#L3');
    }),
  );
});
