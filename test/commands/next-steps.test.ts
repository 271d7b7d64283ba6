import { describe, expect, it } from 'vitest';
import { nextSteps } from '../../src/commands/server/serve.ts';

const here = { url: 'http://127.0.0.1:8080', data: '/srv/data', program: '/home/me/flagmeter/dist/flagmeter' };

describe('nextSteps', () => {
  it.each([
    ['/home/me/flagmeter', 'dist/flagmeter login\n'],
    ['/home/me/flagmeter/dist', './flagmeter login\n'],
    ['/srv', '   flagmeter login\n'],
    ['/', '   flagmeter login\n'],
  ])('nextSteps prints the command that runs the program from the directory %s', (directory, command) => {
    expect(nextSteps({ ...here, directory })).toContain(command);
  });

  it('nextSteps names the console, the docs and the data, and its command omits only the default address', () => {
    const text = nextSteps({ ...here, url: 'https://flags.example.com', directory: '/' });
    expect(text).toMatch(/^ {2}Console +https:\/\/flags\.example\.com\/$/m);
    expect(text).toMatch(/^ {2}Docs +https:\/\/flags\.example\.com\/docs$/m);
    expect(text).toMatch(/^ {2}Data +\/srv\/data$/m);
    expect(text).toContain('login --url https://flags.example.com\n');
  });
});
