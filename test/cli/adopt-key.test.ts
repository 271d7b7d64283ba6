import { describe, expect, it } from 'vitest';
import { adoptKey } from '../../src/cli/adopt-key.ts';
import { administrator } from './administrator.ts';
import { testContext } from './fixture.ts';

const admin = administrator();

async function run(command: string, input: string) {
  const env = { FLAGMETER_URL: admin.running.url, FLAGMETER_TOKEN: admin.access };
  const context = testContext({ clock: admin.running.clock, env, files: { '-': input } });
  const code = await adoptKey(command.split(' '), context);
  return { code, ...context.output };
}

const usual = () => `--app ${admin.application} --environment Production --type Backend`;

describe('keys adopt', () => {
  it('adopts the token on the first line of standard input, and does not print it', async () => {
    const token = 'default:production.0123456789';
    const { code, out } = await run(`${usual()} --name Unleash --json`, `${token}\r\n`);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ type: 'Backend', name: 'Unleash', environment: 'Production' });
    expect(out).not.toContain(token);
  });

  it.each([
    ['without a token', '', /standard input is empty/],
    ['a token that is a key already', 'default:production.twice', /already/],
  ])('refuses %s', async (_, input, why) => {
    if (input !== '') await run(usual(), input);
    await expect(run(usual(), input)).rejects.toThrow(why);
  });
});
