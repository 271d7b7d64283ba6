import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { bundle, startLocal } from '../../support/service.ts';

const service = opened(startLocal);

const root = join(import.meta.dirname, '../../..');

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, `http://${service.http}`), { headers });

async function servedPages(): Promise<ReadonlyMap<string, string>> {
  const paths = bundle.docs.pages.map(({ name }) => (name === '' ? '/docs' : `/docs/${name}`));
  return new Map(await Promise.all(paths.map(async (path) => [path, await (await get(path)).text()] as const)));
}

function listIds(page: string): readonly string[] {
  return Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id = '']) => id);
}

describe('the docs', () => {
  test('the docs are HTML pages that run only their own script', async () => {
    const response = await get('/docs/semantics');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;");
    expect(policy).not.toContain('unsafe');
    expect(await response.text()).toMatch(/<h2 id="the-verdict">The verdict<\/h2>/);
  });

  test('the first page of the docs lists every document of the folder docs once', async () => {
    const [main = ''] = (await (await get('/docs')).text()).split('<nav class="docs-pages"');
    const listed = Array.from(main.matchAll(/<li><a href="\.\/(docs\/[^"]+)">/g), ([, path = '']) => path);
    const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
    const documents = names.filter((name) => name.endsWith('.md') && name !== 'README.md');
    const own = listed.filter((path) => existsSync(join(root, `${path}.md`)));
    expect(own.sort()).toEqual(documents.map((name) => `docs/${name.replace(/\.md$/, '')}`).sort());
  });

  test('an address of the docs with a slash at its end redirects to the address without the slash', async () => {
    for (const [path, page] of [
      ['/docs/', '/docs'],
      ['/docs/semantics/', '/docs/semantics'],
    ] as const) {
      const { status, url } = await get(path);
      expect([status, new URL(url).pathname]).toEqual([200, page]);
    }
    expect((await get('/docs/nothing/')).status).toBe(404);
  });

  test('the docs respond with 404 to an unknown name', async () => {
    expect((await get('/docs/nothing', { accept: 'text/html' })).status).toBe(404);
    expect((await get('/docs/nothing')).headers.get('content-type')).toBe('application/problem+json');
  });

  test('the docs link to existing pages, sections, images and files', async () => {
    const pages = await servedPages();
    const links = [...pages].flatMap(([path, page]) =>
      Array.from(page.matchAll(/<[^>]+ (?:href|src)="([^"]+)"/g), ([, link = '']) => ({
        path,
        link,
        url: new URL(link.replaceAll('&amp;', '&'), `http://${service.http}${path}`),
      })),
    );
    const own = links.filter(({ url }) => url.host === service.http);
    expect(own.length).toBeGreaterThan(1000);
    const statuses = new Map<string, number>();
    for (const { url } of own)
      if (!statuses.has(url.pathname)) statuses.set(url.pathname, (await get(url.pathname)).status);
    const broken = own.filter(({ url: { pathname, hash } }) => {
      if (statuses.get(pathname) !== 200) return true;
      return hash !== '' && pages.has(pathname) && !listIds(pages.get(pathname)!).includes(hash.slice(1));
    });
    expect(broken.map(({ path, link }) => `${path}: ${link}`)).toEqual([]);
    for (const [path, page] of pages) expect(page, path).not.toMatch(/<(script(?! src)|iframe|style)/);
  });

  test('the docs contain every section that a help link of the console leads to', async () => {
    const folder = join(root, 'src/console');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const targets = sources
      .filter((name) => name.endsWith('.tsx'))
      .flatMap((name) => {
        const text = readFileSync(join(folder, name), 'utf8');
        return Array.from(text.matchAll(/(?:<Help\s+to|\shelp)="([^"]+)"/g), ([, to = '']) => ({ name, to }));
      });
    expect(targets.length).toBeGreaterThan(10);
    const pages = await servedPages();
    const missing = targets.filter(({ to }) => {
      const [page = '', anchor] = to.split('#');
      const html = pages.get(`/docs/${page}`);
      return html === undefined || (anchor !== undefined && !listIds(html).includes(anchor));
    });
    expect(missing).toEqual([]);
  });

  test('the docs list the titles of their sections for the search', async () => {
    const titles = (await (await get('/docs/titles.json')).json()) as { to: string }[];
    expect(titles.filter(({ to }) => to === '' || to.startsWith('#'))).toEqual([]);
    expect(titles).toContainEqual({ title: 'The verdict', page: 'Semantics', to: 'semantics#the-verdict' });
  });

  test('the index of the search has the text of each section without tags', async () => {
    const script = await (await get('/docs/search.js')).text();
    const index = JSON.parse(script.replace('export default ', '')) as { to: string; text: string }[];
    const found = index.find(({ to }) => to === 'semantics#the-verdict');
    expect(found?.text).toContain('Silence alone is not a reason to remove a feature');
    expect(found?.text).not.toMatch(/<|&\w+;|Clean-up/);
  });
});
