import { describe, expect, it } from 'vitest';
import { nextSteps } from '../../src/commands/server/serve.ts';

const here = { url: 'http://127.0.0.1:8080', program: '/home/me/flagmeter/dist/flagmeter' };

describe('nextSteps', () => {
  it.each([
    ['/home/me/flagmeter', 'dist/flagmeter login\n'],
    ['/home/me/flagmeter/dist', './flagmeter login\n'],
    ['/srv', '  flagmeter login\n'],
    ['/', '  flagmeter login\n'],
  ])('nextSteps prints the command that runs the program from the directory %s', (directory, command) => {
    expect(nextSteps({ ...here, directory })).toContain(command);
  });

  it('nextSteps begins with the address to open, and its commands contain this address unless it is the default', () => {
    const text = nextSteps({ ...here, url: 'https://flags.example.com', directory: '/' });
    expect(text.trimStart().split('\n', 1)[0]).toBe('flagmeter is running. Open https://flags.example.com/');
    expect(text).toContain('login --url https://flags.example.com\n');
  });
});
