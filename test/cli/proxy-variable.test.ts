import { expect, test } from 'vitest';
import { proxyFor, send } from '../../src/cli/send.ts';
import { testContext } from './fixture.ts';

const proxy = 'http://me:secret@proxy.example:3128';

test.each([
  ['http://a.example', { HTTP_PROXY: proxy }, 'HTTP_PROXY'],
  ['http://a.example', { http_proxy: proxy, HTTP_PROXY: 'http://other' }, 'http_proxy'],
  ['http://a.example', { ALL_PROXY: proxy }, 'ALL_PROXY'],
  ['https://a.example', { HTTPS_PROXY: proxy, HTTP_PROXY: 'http://other' }, 'HTTPS_PROXY'],
  ['https://a.example', { HTTP_PROXY: proxy }, undefined],
  ['http://a.example', { HTTP_PROXY: '' }, undefined],
  ['http://a.example', { HTTP_PROXY: proxy, NO_PROXY: '*' }, undefined],
  ['http://a.example', { HTTP_PROXY: proxy, NO_PROXY: 'b, A.example' }, undefined],
  ['http://a.example', { HTTP_PROXY: proxy, NO_PROXY: '.example' }, undefined],
  ['http://a.example:81', { HTTP_PROXY: proxy, no_proxy: 'a.example:81' }, undefined],
  ['http://a.example:81', { HTTP_PROXY: proxy, NO_PROXY: 'a.example:82,,ple' }, 'HTTP_PROXY'],
])('the proxy variable of a request to %s with the variables %j is %s', (url, env, variable) => {
  expect(proxyFor(url, env)).toEqual(variable && { variable, address: 'proxy.example:3128' });
});

test.each(['proxy.example:3128', 'me:secret@proxy.example:3128'])(
  'proxyFor accepts the proxy %s, which has no scheme',
  (given) => {
    expect(proxyFor('http://a', { HTTP_PROXY: given })?.address).toBe('proxy.example:3128');
  },
);

test('a failed request names the proxy and its variable, without the password', async () => {
  const fetch = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const context = { ...testContext({ env: { HTTPS_PROXY: proxy } }), fetch };
  await expect(send(context, 'https://flags.example.com/x', { method: 'GET' })).rejects.toThrow(
    'Cannot reach https://flags.example.com: connection refused; HTTPS_PROXY sets the proxy proxy.example:3128: check it, or set NO_PROXY',
  );
});
