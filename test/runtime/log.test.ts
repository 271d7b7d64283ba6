import { describe, expect, it } from 'vitest';
import { createLog, type LogFields, type LogLevel } from '../../src/runtime/log.ts';

const clock = { now: () => Date.UTC(2024, 0, 2, 3, 4, 5, 6) };

function lines(level: LogLevel, use: (log: ReturnType<typeof createLog>) => void): unknown[] {
  const written: string[] = [];
  use(createLog(level, (line) => written.push(line), clock));
  for (const line of written) expect(line).toMatch(/^[^\n]+\n$/);
  return written.map((line) => JSON.parse(line));
}

function readLoggedFields(fields: LogFields): Record<string, unknown> {
  const [line] = lines('info', (log) => log.info('x', fields));
  const { time: _time, level: _level, msg: _msg, ...rest } = line as Record<string, unknown>;
  return rest;
}

describe('the log', () => {
  it('the log omits the stacks of errors with a system or store code, and the stacks of their causes', () => {
    const disk = Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' });
    const store = Object.assign(new Error('Input/output error'), { code: 5, cause: disk });
    const { error } = readLoggedFields({ error: store });
    expect(error).toEqual({
      code: 5,
      name: 'Error',
      message: 'Input/output error',
      cause: { code: 'EIO', name: 'Error', message: 'EIO: i/o error, write' },
    });
    const defect = Object.assign(new Error('no number'), { code: 'ERR_INVALID_ARG_TYPE' });
    expect(readLoggedFields({ error: defect })['error']).toMatchObject({ stack: expect.stringContaining('log.test') });
  });

  it('the log writes one JSON object per line, with the time first', () => {
    expect(lines('debug', (log) => log.warn('slow\ncommit', { ms: 12 }))).toEqual([
      { time: '2024-01-02T03:04:05.006Z', level: 'warn', msg: 'slow\ncommit', ms: 12 },
    ]);
  });

  it.each([
    [0.055_135_999_999_947_67, 0.0551],
    [12.345_678, 12.346],
    [-1234.5678, -1234.568],
    [1e21, 1e21],
    [0, 0],
  ])('the log rounds the number %d to %d', (value, written) => {
    expect(readLoggedFields({ ms: value, nested: { ms: value } })).toEqual({ ms: written, nested: { ms: written } });
  });

  it.each<[LogLevel, string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ])('a log with the level %s writes lines of the levels %j', (level, expected) => {
    const written = lines(level, (log) => {
      log.debug('x');
      log.info('x');
      log.warn('x');
      log.error('x');
    });
    expect(written.map((line) => (line as { level: string }).level)).toEqual(expected);
  });

  it.each([
    'authorization',
    'Authorization',
    'cookie',
    'set-cookie',
    'key',
    'appKey',
    'app_key',
    'clientSecret',
    'secret',
    'token',
    'accessToken',
    'refresh_tokens',
    'password',
    'adminPassword',
    'identity',
    'instanceId',
    'privateKeys',
    'k',
    'i',
    'u',
  ])('the log redacts the field %s at any depth', (name) => {
    expect(
      JSON.stringify(readLoggedFields({ [name]: 'xyzzy', a: { b: [{ [name]: { deep: 'xyzzy' } }] } })),
    ).not.toContain('xyzzy');
    expect(readLoggedFields({ [name]: 'xyzzy' })).toEqual({ [name]: '[redacted]' });
  });

  it.each(['keyId', 'tokenType', 'token_count', 'monkey', 'clientId', 'application', 'ip'])(
    'the log does not redact the field %s',
    (name) => {
      expect(readLoggedFields({ [name]: 'xyzzy' })).toEqual({ [name]: 'xyzzy' });
    },
  );

  it('the log keeps its fields time, level and msg if other fields have these names', () => {
    expect(lines('info', (log) => log.info('real', { msg: 'x', level: 'x', time: 'x' }))).toEqual([
      { time: '2024-01-02T03:04:05.006Z', level: 'info', msg: 'real' },
    ]);
  });

  it('the log writes values that JSON cannot represent, and never throws', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const error = new Error('no room', { cause: new TypeError('inner') });
    const fields = readLoggedFields({
      big: 10n,
      when: new Date(0),
      never: new Date(Number.NaN),
      bytes: new Uint8Array(3),
      error,
      loop,
      nothing: undefined,
    });
    expect(fields).toMatchObject({
      big: '10',
      when: '1970-01-01T00:00:00.000Z',
      never: null,
      bytes: '[3 bytes]',
      error: { name: 'Error', message: 'no room', cause: { name: 'TypeError', message: 'inner' } },
    });
    expect(JSON.stringify(fields['loop'])).toContain('[deeper]');
  });

  it('the log treats the names of fields such as __proto__ as ordinary names', () => {
    expect(lines('info', (log) => log.info('x', JSON.parse('{"__proto__":{"level":"hacked"}}')))).toEqual([
      expect.objectContaining({ level: 'info' }),
    ]);
  });
});
