import { expect, test } from 'vitest';
import { strictTransport } from '../../src/serve/listeners.ts';

const year = { 'strict-transport-security': 'max-age=31536000' };

test.each([
  ['no public URL', {}, {}],
  ['one that is https', { authUrl: 'https://flags.example.com' }, year],
  ['one that is http', { authUrl: 'http://flags.example.com' }, {}],
  ['one of each', { authUrl: 'https://flags.example.com', metricsUrl: 'http://flags.example.com' }, {}],
  ['localhost', { baseUrl: 'https://localhost:8443' }, {}],
  [
    'three that are https',
    { authUrl: 'https://a.example', baseUrl: 'https://b.example', metricsUrl: 'https://c.example' },
    year,
  ],
])('sends HSTS with %s', (_, urls, headers) => {
  expect(strictTransport(urls)).toEqual(headers);
});
