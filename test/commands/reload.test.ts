import { expect, test } from 'vitest';
import { createLog, type LogLevel } from '../../src/runtime/log.ts';
import { type Config, loadConfig } from '../../src/serve/config/config.ts';
import { reload } from '../../src/serve/signals.ts';

/** Loads the settings `before`, and reloads them from the text `after`. @returns the resulting settings and the log */
async function reloaded(before: object, after: string, renewTls = async () => false) {
  const load = (text: string) => loadConfig({ argv: ['--config', 'file'], env: {}, readFile: () => text });
  let level: LogLevel = 'info';
  let rates: readonly number[] = [];
  let trusted: string | undefined;
  const lines: Record<string, unknown>[] = [];
  const log = createLog(
    () => level,
    (line) => void lines.push(JSON.parse(line)),
    { now: () => 0 },
  );
  const parts = {
    bound: {
      renewTls,
      trust(wanted: { trustedProxies?: string }) {
        trusted = wanted.trustedProxies;
      },
    },
    log,
    setLogLevel(wanted: LogLevel) {
      level = wanted;
    },
    setProviders() {},
    set({ rate, burst, apiRate, tokenRate }: Config) {
      rates = [rate, burst, apiRate, tokenRate];
    },
  };
  const config = await reload(load(JSON.stringify(before)), () => load(after), parts);
  return { config, level, rates, trusted, lines };
}

test('a reload applies a changed rate and log level, and lists settings that need a restart', async () => {
  const rated = { rate: 7, apiRate: 8, tokenRate: 9 };
  const after = JSON.stringify({ ...rated, logLevel: 'debug', listen: ':9999', trustedProxies: '10.0.0.1' });
  const { config, level, rates, trusted, lines } = await reloaded({ rate: 5 }, after);
  expect(trusted).toBe('10.0.0.1');
  expect(level).toBe('debug');
  expect(rates).toEqual([7, 14, 8, 9]);
  expect(config).toMatchObject({ rate: 7, burst: 14, logLevel: 'debug', listen: '127.0.0.1:8080' });
  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'reloaded the configuration',
      reloaded: expect.arrayContaining(['--rate', '--api-rate', '--token-rate', '--log-level', '--trusted-proxies']),
      afterRestart: ['--listen'],
    }),
  ]);
});

test.each([
  ['an unknown key', '{"rat":7}', 'Unknown key rat'],
  ['text that is not JSON', '{', 'must be valid JSON'],
  ['a value out of bounds', '{"rate":-1}', 'must be a whole number'],
])('a reload from a file with %s reports an error, and changes nothing', async (_, after, reason) => {
  const { config, rates, lines } = await reloaded({ rate: 5 }, after);
  expect(config.rate).toBe(5);
  expect(rates).toEqual([]);
  expect(lines).toEqual([expect.objectContaining({ level: 'error', reason: expect.stringContaining(reason) })]);
});

test('a reload with invalid TLS files changes nothing', async () => {
  const { config, lines } = await reloaded({ rate: 5 }, '{"rate":7}', async () => {
    throw new Error('Cannot read the certificate');
  });
  expect(config.rate).toBe(5);
  expect(lines).toEqual([expect.objectContaining({ level: 'error', reason: 'Cannot read the certificate' })]);
  expect(lines[0]).not.toHaveProperty('error');
});
