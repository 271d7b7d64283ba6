import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { type LocalService, startLocal } from '../support/service.ts';

let service: LocalService;

beforeAll(async () => {
  service = await startLocal();
});
afterAll(async () => {
  await service.stop();
  cleanUp();
});

test('a person who opens the address of the server is told what to do next', async () => {
  const answer = await fetch(`http://${service.http}/`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const page = await answer.text();
  expect(page).toContain('flagmeter is running');
  expect(page).toContain(`flagmeter login --url http://${service.http}`);
});

test('the links of that page lead somewhere', async () => {
  const page = await (await fetch(`http://${service.http}/`)).text();
  const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link!);
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const answer = await fetch(new URL(link, `http://${service.http}/`));
    expect({ link, status: answer.status }).toEqual({ link, status: 200 });
  }
});
