import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noPasswordHash } from '../../src/accounts/passwords.ts';
import { Failure } from '../../src/cli/failure.ts';
import {
  askForPassword,
  forgetPasswordRequests,
  handlePasswordRequests,
  type PasswordRequest,
} from '../../src/serve/password-reset.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const request = { email: 'admin@example.com', passwordHash: noPasswordHash, isTemporary: true };

/** Each wait calls the server, and advances the clock by `stepMs`. */
function deps(server: () => Promise<void> | void, stepMs = 100) {
  let now = 0;
  return {
    clock: { monotonic: () => now },
    randomBytes: (length: number) => Buffer.alloc(length, 7),
    async pause() {
      now += stepMs;
      await server();
    },
  };
}

test('asks a running server, and leaves its directory unchanged', async () => {
  const data = temporaryDirectory();
  const asked: PasswordRequest[] = [];
  const seen: string[] = [];
  const server = async () => {
    for (const file of readdirSync(data)) seen.push(readFileSync(join(data, file), 'utf8'));
    await handlePasswordRequests(data, async (each) => void asked.push(each));
  };
  await askForPassword(data, request, deps(server));
  expect(asked).toEqual([request]);
  expect(seen[0]).toBe(JSON.stringify(request));
  expect(readdirSync(data)).toEqual([]);
});

test('reports the reason of the server for a refusal, with its exit code', async () => {
  const data = temporaryDirectory();
  const server = () =>
    handlePasswordRequests(data, async () => {
      throw new Failure('notFound', 'Cannot find admin@example.com');
    });
  const refused = askForPassword(data, request, deps(server));
  await expect(refused).rejects.toMatchObject({ message: 'Cannot find admin@example.com', exitCode: 5 });
});

test('withdraws a request that no server takes', async () => {
  const data = temporaryDirectory();
  await expect(
    askForPassword(
      data,
      request,
      deps(() => {}),
    ),
  ).rejects.toMatchObject({ message: `The server that uses ${data} does not respond: stop it first`, exitCode: 7 });
  expect(readdirSync(data)).toEqual([]);
});

const file = `reset-password.${'07'.repeat(16)}.request`;

test.each([
  ['not JSON', (path: string) => writeFileSync(path, 'x')],
  ['too large', (path: string) => writeFileSync(path, ' '.repeat(5000))],
  ['of another shape', (path: string) => writeFileSync(path, '{}')],
  [
    'hashed in another way',
    (path: string) =>
      writeFileSync(path, JSON.stringify({ ...request, passwordHash: '$argon2id$v=19$m=4000000,t=9,p=1$a$b' })),
  ],
  ['a directory', (path: string) => mkdirSync(path)],
  ['a link', (path: string) => symlinkSync('/etc/hostname', path)],
])('refuses a request that is %s, and handles the next one', async (_, make) => {
  const data = temporaryDirectory();
  make(join(data, file));
  let done = 0;
  const reset = async () => {
    done += 1;
  };
  await handlePasswordRequests(data, reset);
  expect(done).toBe(0);
  const other = `reset-password.${'08'.repeat(16)}.request`;
  writeFileSync(join(data, other), JSON.stringify(request));
  await handlePasswordRequests(data, reset);
  expect(done).toBe(1);
});

test('removes the files of a killed command, and no others', () => {
  const data = temporaryDirectory();
  for (const name of [file, `${file}.tmp`, file.replace('request', 'answer'), 'other'])
    writeFileSync(join(data, name), '');
  forgetPasswordRequests(data);
  expect(readdirSync(data)).toEqual(['other']);
});
