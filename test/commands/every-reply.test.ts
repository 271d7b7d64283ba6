import { expect, test } from 'vitest';
import { readOpenApi } from '../support/openapi.ts';
import { freePort } from '../support/postgres-program.ts';
import { startLocal } from '../support/service.ts';

const documents = ['/swagger/v2/swagger.json', '/connect/openapi.json', '/api/v2/openapi.json'];
const others = ['/', '/settings', '/snippet.js', '/healthz', '/readyz', '/metrics', '/nowhere', '//', '/%zz'];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

test('every response has the header nosniff, and every response of a public listener has HSTS', async () => {
  const ops = `127.0.0.1:${await freePort()}`;
  const url = 'https://flags.example.com';
  const urls = ['--auth-url', url, '--base-url', url, '--metrics-url', url];
  const service = await startLocal({ args: [...urls, '--ops-listen', ops] });
  const paths = new Set(others);
  for (const document of documents) {
    const text = await (await fetch(`http://${service.http}${document}`)).json();
    for (const name of readOpenApi(text as object).operations.keys())
      paths.add(name.split(' ')[1]!.replaceAll(/[{}]/g, ''));
  }
  expect(paths.size).toBeGreaterThan(60);
  for (const [listener, hsts] of [
    [service.http, 'max-age=31536000'],
    [ops, null],
  ] as const)
    for (const path of paths)
      for (const method of methods) {
        const response = await fetch(`http://${listener}${path}`, { method, redirect: 'manual' });
        const { headers } = response;
        await response.arrayBuffer();
        const seen = [headers.get('x-content-type-options'), headers.get('strict-transport-security')];
        expect(seen, `${method} ${path}`).toEqual(['nosniff', hsts]);
      }
  await service.stop();
});
