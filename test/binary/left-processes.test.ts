import { describe, expect, test } from 'vitest';
import { freshDirectory, startBinary, stop } from '../support/binary.ts';

describe('a server that a failed test left running', () => {
  const data = `${freshDirectory()}/data`;

  test.fails('a test starts a server and leaves it running', async () => {
    await startBinary({ data });
    expect.fail('as an expectation in the middle of a test does');
  });

  test('the next test can use the data directory of a server that the previous test left running', async () => {
    await stop(await startBinary({ data }));
  });
});
