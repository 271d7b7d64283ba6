import { expect, test } from 'vitest';
import { strictTransport } from '../../src/serve/listeners.ts';

const year = { 'strict-transport-security': 'max-age=31536000' };

test.each([
  ['no public URL', {}, {}],
  ['an https URL', { authUrl: 'https://flags.example.com' }, year],
  ['an http URL', { authUrl: 'http://flags.example.com' }, {}],
  ['an https and an http URL', { authUrl: 'https://flags.example.com', metricsUrl: 'http://flags.example.com' }, {}],
  ['localhost', { baseUrl: 'https://localhost:8443' }, {}],
  [
    'three https URLs',
    { authUrl: 'https://a.example', baseUrl: 'https://b.example', metricsUrl: 'https://c.example' },
    year,
  ],
])('the service sends the HSTS header only for https hosts: %s', (_, urls, headers) => {
  expect(strictTransport(urls)).toEqual(headers);
});
