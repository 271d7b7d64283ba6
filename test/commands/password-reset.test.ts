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

/** Creates dependencies whose pause calls the server, and advances the clock by `stepMs`. */
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

test('askForPassword sends the request to a running server, and leaves no files behind', async () => {
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

test('askForPassword throws the reason and the exit code of a refusal by the server', async () => {
  const data = temporaryDirectory();
  const server = () =>
    handlePasswordRequests(data, async () => {
      throw new Failure('notFound', 'Cannot find admin@example.com');
    });
  const refused = askForPassword(data, request, deps(server));
  await expect(refused).rejects.toMatchObject({ message: 'Cannot find admin@example.com', exitCode: 5 });
});

test('askForPassword removes a request that no server handles', async () => {
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
])('the server refuses a password request that is %s, and handles the next one', async (_, make) => {
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

test('the server removes the files of a killed reset-password command, and no other files', () => {
  const data = temporaryDirectory();
  for (const name of [file, `${file}.tmp`, file.replace('request', 'answer'), 'other'])
    writeFileSync(join(data, name), '');
  forgetPasswordRequests(data);
  expect(readdirSync(data)).toEqual(['other']);
});
