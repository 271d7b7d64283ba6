import { describe, expect, it } from 'vitest';
import { adoptKey } from '../../src/cli/adopt-key.ts';
import { administrator } from './administrator.ts';
import { testContext } from './fixture.ts';

const admin = administrator();

async function run(command: string, input: string) {
  const env = { FLAGMETER_URL: admin.running.url, FLAGMETER_TOKEN: admin.access };
  const context = testContext({ clock: admin.running.clock, env, files: { '-': input } });
  const code = await adoptKey.run(command.split(' '), context);
  return { code, ...context.output };
}

const usual = () => `--app ${admin.application} --env Production --type Backend`;

describe('keys adopt', () => {
  it('keys adopt reads the token from the first line of standard input, and does not print it', async () => {
    const token = 'default:production.0123456789abcdef';
    const { code, out } = await run(`${usual()} --name Unleash --json`, `${token}\r\n`);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ type: 'Backend', name: 'Unleash', environment: 'Production' });
    expect(out).not.toContain(token);
  });

  it('keys adopt warns about a guessable token without printing it', async () => {
    const token = 'default:production.our-usual-password-1';
    const { code, out, err } = await run(usual(), token);
    expect(code).toBe(0);
    expect(out).toMatch(/^ *Warnings +weak$/m);
    expect(err).toMatch(/^Warning: This token has fewer than 32 random-looking characters/);
    expect(out + err).not.toContain('our-usual-password');
  });

  it.each([
    ['an input without a token', '', /standard input is empty/],
    ['a short token', 'short', /must have 16 to 512/],
    ['a short token after its project and environment', 'default:production.short', /must have 16 to 512/],
    ['a short token of a project with a dot', 'shop.checkout:production.short', /must have 16 to 512/],
  ])('keys adopt refuses %s', async (_, input, why) => {
    await expect(run(usual(), input)).rejects.toThrow(why);
  });

  it('keys adopt refuses a token that is already a key', async () => {
    const token = 'default:production.twice-0123456789';
    await run(usual(), token);
    await expect(run(usual(), token)).rejects.toThrow(/already/);
  });
});
