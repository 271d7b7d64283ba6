import { describe, expect, it } from 'vitest';
import { loadConfig } from '../src/serve/config/config.ts';

function load(argv: readonly string[]) {
  return loadConfig({ argv, env: {}, readFile: () => '' });
}

describe('--metrics-path-prefix', () => {
  it.each(['/t', '/stats/v1', '/~a.b-c_d'])('the server accepts the path prefix %s', (prefix) => {
    expect(load(['--metrics-path-prefix', prefix]).metricsPathPrefix).toBe(prefix);
  });

  it.each(['t', '/', '/t/', '//t', '/../t', '/.t', '/t?x', '/t t', '/api', '/api/x', '/console/x', '/metrics'])(
    'the server refuses the path prefix %j',
    (prefix) => expect(() => load(['--metrics-path-prefix', prefix])).toThrow('must be a path such as /t'),
  );
});
