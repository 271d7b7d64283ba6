import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, test } from 'vitest';
import { readHeaders, readHeadersFile } from '../../../src/serve/otlp/otlp.ts';
import { SampledTraces } from '../../../src/serve/otlp/sampled-traces.ts';
import { isSender } from '../../../src/serve/otlp/usage-push.ts';
import { createRequest } from '../../auth/fixture.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describe('readHeaders', () => {
  it('readHeaders reads NAME: VALUE from each line', () => {
    expect(readHeaders('# a\n\nAuthorization: Bearer a:b\r\nX-Scope:  one two \n')).toEqual({
      authorization: 'Bearer a:b',
      'x-scope': 'one two',
    });
    expect(readHeaders('__proto__: 1')).toHaveProperty('__proto__');
  });

  it.each(['secret', ': secret', 'a b: secret', 'a: sec\u0001ret', 'a: secré'])(
    'readHeaders refuses the line %j, and its error does not show the line',
    (line) => {
      expect(() => readHeaders(`ok: 1\n${line}`)).toThrow(/^line 2 is not NAME: VALUE$/);
    },
  );
});

describe('readHeadersFile', () => {
  it('readHeadersFile names a missing file and the reason', () => {
    const file = join(temporaryDirectory(), 'headers');
    expect(() => readHeadersFile(file)).toThrow(`Cannot read ${file}: no such file or directory`);
  });

  it('readHeadersFile names the option, the file and the line that it cannot parse', () => {
    const file = join(temporaryDirectory(), 'headers');
    writeFileSync(file, 'Authorization\n');
    expect(() => readHeadersFile(file)).toThrow(`Cannot use --otlp-headers-file ${file}: line 1 is not NAME: VALUE`);
  });
});

const up = (...directories: string[]) => directories.map((directory) => ({ directory, state: 'up' }));

test.each([
  ['a single machine sends', undefined, true],
  ['the first node that is up sends', { directory: 'a', nodes: up('b', 'a', 'c') }, true],
  ['a later node does not send', { directory: 'b', nodes: up('b', 'a', 'c') }, false],
  [
    'the second node sends while the first is silent',
    { directory: 'b', nodes: [{ directory: 'a', state: 'silent' }, ...up('b')] },
    true,
  ],
  ['a node that knows no nodes yet does not send', { directory: 'a', nodes: [] }, false],
  ['the first node does not send without PostgreSQL', { directory: 'a', nodes: up('a'), connected: false }, false],
])('isSender: %s', (_, status, sends) => {
  const { connected = true, ...rest } = (status ?? {}) as { connected?: boolean };
  const full = status === undefined ? undefined : { ...rest, postgres: { connected } };
  expect(isSender(full as never)).toBe(sends);
});

describe('SampledTraces', () => {
  function open(oneIn: number, draws: readonly number[] = [0]) {
    let now = 0;
    let drawn = 0;
    const exporter = new InMemorySpanExporter();
    const { requests } = new SampledTraces({
      processor: new SimpleSpanProcessor(exporter),
      resource: resourceFromAttributes({}),
      oneIn,
      clock: { now: () => now, monotonic: () => now },
      random: () => draws[drawn++ % draws.length]!,
    });
    const ask = (headers: Record<string, string> = {}) =>
      requests.begin(createRequest('/x', { headers }))?.end('/x', { status: 503 });
    return { ask, exporter, later: () => (now += 1000) };
  }

  it('the configured share of requests is traced', () => {
    const { ask } = open(4, [0, 0.2, 0.3, 0.6, 0.9, 0.24]);
    expect(Array.from({ length: 6 }, () => ask() !== undefined)).toEqual([true, true, false, false, false, true]);
  });

  it('the number of traces per second is limited, whatever callers request', () => {
    const { ask, exporter, later } = open(1);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (let request = 0; request < 150; request += 1) ask({ traceparent });
    expect(exporter.getFinishedSpans()).toHaveLength(100);
    later();
    expect(ask({ traceparent })).toBeDefined();
  });

  it('the span of a request records a failure of the service', () => {
    const { ask, exporter } = open(1);
    expect(ask()?.headers?.['traceresponse']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(exporter.getFinishedSpans()[0]).toMatchObject({ name: 'GET /x', status: { code: 2 } });
  });
});
