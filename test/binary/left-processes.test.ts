import { describe, expect, test } from 'vitest';
import { freshDirectory, startBinary, stop } from '../support/binary.ts';

describe('a server that a failed test left running', () => {
  const data = `${freshDirectory()}/data`;

  test.fails('the first test starts the server', async () => {
    await startBinary({ data });
    expect.fail('as an expectation in the middle of a test does');
  });

  test('the next test can use the directory of the server', async () => {
    await stop(await startBinary({ data }));
  });
});
