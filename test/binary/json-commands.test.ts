import { join } from 'node:path';
import { expect, test } from 'vitest';
import { binaryPath, freshDirectory, prepare } from '../support/binary.ts';
import { damagePage, pagesIn } from '../support/damage.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';

test('the commands backup, verify and compact with --json print one JSON object each', async () => {
  const data = join(freshDirectory(), 'data');
  await prepare(data);
  const file = `${data}.backup`;
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runBinary([...args, '--json']);
    return { code, stderr, json: JSON.parse(stdout) };
  };
  expect(await run('backup', '--data', data, '--to', file)).toEqual({
    code: 0,
    stderr: '',
    json: { file, bytes: expect.any(Number), at: expect.any(String), ms: expect.any(Number), hasMac: false },
  });
  expect(await run('verify', file)).toMatchObject({
    code: 0,
    json: { isSound: true, backup: { mac: 'none' }, findings: expect.any(Array) },
  });
  expect(await run('compact', '--data', data)).toMatchObject({
    code: 0,
    json: { files: [{ before: expect.any(Number), after: expect.any(Number) }, expect.anything()] },
  });
  damagePage(
    join(data, 'usage/data.mdb'),
    pagesIn(join(data, 'usage/data.mdb')).get('leaf')!.at(-1)!,
    10,
    Buffer.from([0xff, 0xff]),
  );
  expect(await run('verify', '--data', data)).toMatchObject({
    code: 1,
    json: { isSound: false, advice: expect.stringContaining('Do not start a service on') },
  });
});

test.each([
  [['verify', '/nowhere/file'], 1, 'failed'],
  [['backup', '--data', '/nowhere'], 2, 'usage'],
  [['apps', 'list', '--url', 'http://127.0.0.1:1'], 3, 'unauthorized'],
])('the command %j with --json prints its error as one JSON object on standard error', async (args, exitCode, code) => {
  const ended = await runBinary([...args, '--json'], { HOME: freshDirectory() });
  expect(ended).toMatchObject({ code: exitCode, stdout: '' });
  expect(JSON.parse(ended.stderr)).toEqual({ error: expect.any(String), code, exitCode });
});

test('backup does not write a backup to a terminal', async () => {
  const data = join(freshDirectory(), 'data');
  await prepare(data);
  const command = `"${binaryPath}" backup --data "${data}" --to -`;
  const { stdout } = await runProgram('script', ['-qec', command, '/dev/null']);
  expect(stdout).toContain('Cannot write a backup to a terminal: redirect standard output, or name a file');
});
