import { expect, test } from 'vitest';
import { createApplication, freshDirectory, manage, prepare, startBinary, stop, token } from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';

/**
 * Names with two-, three- and four-byte characters, a non-printing character, or more bytes than a decoder call reads.
 */
const names = ['Größe', 'a\u202eb', '名'.repeat(85), '🚀'.repeat(60), `${'x'.repeat(60)}é`];

interface Page {
  readonly items: readonly { readonly name: string }[];
}

test('names in any script are unchanged after a restart and in a backup, and can be removed', async () => {
  const directory = freshDirectory();
  const data = `${directory}/data`;
  const credentials = await prepare(data);
  let service = await startBinary({ data });
  const call = async (method: string, path: string, status: number, body?: object) =>
    manage(service.http, await token(service.http, credentials), method, `/api/v2${path}`, status, body);
  const access = await token(service.http, credentials);
  const features = `/applications/${await createApplication(service.http, access, { name: 'Shop' })}/features`;
  for (const name of names) {
    await call('POST', features, 201, { name });
    await call('POST', `${features}/${encodeURIComponent(name)}/notes`, 201, { text: 'A note' });
  }
  await stop(service);
  service = await startBinary({ data });
  const { items } = (await call('GET', features, 200)) as Page;
  expect(items.map(({ name }) => name).sort()).toEqual([...names].sort());
  const backup = `${directory}/backup`;
  expect(await runBinary(['backup', '--data', data, '--to', backup])).toMatchObject({ code: 0 });
  expect(await runBinary(['verify', backup])).toMatchObject({ code: 0 });
  await call('DELETE', features.replace('/features', ''), 204);
  await stop(service);
  expect(service.stderr()).not.toContain('Error');
});
