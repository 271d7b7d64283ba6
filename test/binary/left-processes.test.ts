import { describe, expect, test } from 'vitest';
import { freshDirectory, startBinary, stop } from '../support/binary.ts';

describe('a server that a failed test left running', () => {
  const data = `${freshDirectory()}/data`;

  test.fails('is started', async () => {
    await startBinary({ data });
    expect.fail('as an expectation in the middle of a test does');
  });

  test('leaves its directory to the next test', async () => {
    await stop(await startBinary({ data }));
  });
});
