import { describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { bundle, startLocal } from '../../support/service.ts';

const service = opened(startLocal);

const get = (path: string, headers: Record<string, string> = {}) => fetch(`http://${service.http}${path}`, { headers });

describe('the document', () => {
  test.each([
    '/',
    '/apps/app_1',
    '/apps/app_1/Production/flags?range=7d',
    '/apps/app_1/Pre%20production/flag?name=..',
    '/audit',
    '/settings',
    '/settings/you',
    '/console/signed-in',
  ])('the document of the console is served at %s', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain(`/console/files/${bundle.script}`);
  });

  test('the document of the console preloads the scripts of the page at its address', async () => {
    const page = await (await get('/apps/app_1/Production/flag?name=x')).text();
    const hinted = [...page.matchAll(/rel="modulepreload" href="\/console\/files\/([^"]+)"/g)];
    const scripts = bundle.pages['flag']!.filter((name) => name !== bundle.script);
    expect(hinted.map(([, name]) => name)).toEqual(scripts);
    for (const name of scripts) expect((await get(`/console/files/${name}`)).status, name).toBe(200);
  });

  describe.each(['/nope', '/apps', '/apps/a/b/nope', '/apps/a/b/flags/more', '/api/v2/nope'])(
    'the unknown path %s',
    (path) => {
      test('a browser gets the page "Not found" at an unknown path', async () => {
        const response = await get(path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
        expect(response.status).toBe(404);
        expect(response.headers.get('vary')).toBe('Accept');
        expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
        expect(await response.text()).toContain(`/console/files/${bundle.script}`);
      });

      test.each(['*/*', 'application/json', 'application/problem+json, text/html;q=0.9'])(
        'an unknown path returns a problem document for Accept: %s',
        async (accept) => {
          const response = await get(path, { accept });
          expect(response.status).toBe(404);
          expect(response.headers.get('content-type')).toBe('application/problem+json');
          expect(await response.json()).toMatchObject({ code: 'not_found' });
        },
      );
    },
  );

  test('the document of the console allows only its own script and the configured hosts, and forbids frames', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    const rules = new Map(
      policy.split(';').map((rule) => {
        const [name = '', ...values] = rule.trim().split(' ');
        return [name, values.join(' ')];
      }),
    );
    expect(Object.fromEntries(rules)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': `'self' http://${service.http}`,
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
  });

  test('the console document contains the host URLs as JSON that cannot close its script element', async () => {
    const page = await (await get('/')).text();
    const [, text = ''] = /<script type="application\/json" id="settings">([^<]*)<\/script>/.exec(page) ?? [];
    const url = `http://${service.http}`;
    expect(JSON.parse(text)).toMatchObject({ baseUrl: url, authUrl: url, metricsUrl: url });
  });
});

describe('a file', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('a file requested with Accept-Encoding %s is encoded as %s and cached forever', async (accepted, encoding) => {
    const response = await get(`/console/files/${bundle.style}`, { 'accept-encoding': accepted });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(await response.text()).toContain(':focus-visible');
  });

  test('a request for a script file of another version gets status 404', async () => {
    expect((await get('/console/files/main-000000000000.js')).status).toBe(404);
  });
});
