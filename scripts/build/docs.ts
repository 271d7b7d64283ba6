/**
 * Renders the docs for the console (`/docs`): one page for each document, lists of the examples, the index of the search,
 * and the files that the docs link to. All links are relative, so that the pages also work if a proxy serves them below a path. `docs-page.ts`
 * has the HTML around a document.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { type CompressedFile, compressed } from './chunks.ts';
import { type DocsGroup, docsPage, escaped } from './docs-page.ts';

/** Documents outside `docs`, by the name of their page. */
const others: Readonly<Record<string, string>> = {
  benchmarks: 'bench/README.md',
  changelog: 'CHANGELOG.md',
  chaos: 'chaos/README.md',
  contributing: 'CONTRIBUTING.md',
  'lmdb-add-on': 'native/lmdb/README.md',
  'openfeature-package': 'clients/openfeature/README.md',
  packaging: 'packaging/README.md',
  'security-policy': 'SECURITY.md',
  'stored-data': 'src/storage/lmdb/README.md',
  tests: 'test/README.md',
};

/** Folders whose files are served unchanged. For a folder with `isListed`, a page lists the files. */
const folders = [
  { folder: 'docs/examples', isListed: true },
  { folder: 'proto', isListed: true },
  { folder: 'docs/alerts', isListed: false },
  { folder: 'docs/dashboards', isListed: false },
  { folder: 'docs/images', isListed: false },
];

const mediaTypes: Readonly<Record<string, string>> = { '.png': 'image/png', '.json': 'application/json' };

/** The documents of a source tree, and their addresses. */
interface Site {
  readonly root: string;
  /** Addresses below `/docs`, by path in the repository. The address of the table of contents is empty. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Table of contents in docs/README.md. */
  readonly contents: readonly DocsGroup[];
  readonly names: DocsFiles;
}

/** File names of the console's style sheet, of the script for the chosen theme, and of the search. */
interface DocsFiles {
  readonly style: string;
  readonly theme: string;
  readonly search: string;
}

/** The docs before their files become part of the bundle. */
export interface CompressedDocs {
  readonly pages: readonly CompressedFile[];
  readonly files: readonly CompressedFile[];
}

/** @throws {Error} if the target of a link does not exist */
export function buildDocs(root: string, names: DocsFiles): CompressedDocs {
  const addresses = addressesIn(root);
  const site: Site = { root, addresses, contents: listContents(root, addresses), names };
  const documents = [...addresses].filter(([path]) => path.endsWith('.md') && path !== 'README.md');
  const rendered = documents.map(([path, address]) => render(site, path, address));
  const files = [...addresses].filter(([path]) => isFile(root, path) && !path.endsWith('.md'));
  // The table of contents is left out of searches: it only names the other documents.
  const sections = rendered.flatMap((each) => each.sections).filter(({ to }) => !/^(#|$)/.test(to));
  const titles = sections.filter(({ depth }) => depth <= 2).map(({ title, page, to }) => ({ title, page, to }));
  const index = sections.map(({ title, page, to, text }) => ({ title, page, to, text }));
  return {
    pages: [...rendered.map(({ page }) => page), ...listings(site)],
    files: [
      ...files.map(([path, address]) => asIs(root, path, address)),
      compressed('titles.json', 'application/json', Buffer.from(JSON.stringify(titles))).file,
      // A script, because the content security policy of the docs allows no requests by scripts.
      compressed('search.js', 'text/javascript', Buffer.from(`export default ${JSON.stringify(index)}`)).file,
    ],
  };
}

const isFile = (root: string, path: string) => statSync(join(root, path)).isFile();

function addressesIn(root: string): ReadonlyMap<string, string> {
  const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const found = new Map([['README.md', '']]);
  for (const name of names.filter((name) => name.endsWith('.md')).sort())
    found.set(`docs/${name}`, name === 'README.md' ? '' : name.replace(/\.md$/, ''));
  for (const [name, path] of Object.entries(others)) found.set(path, name);
  for (const { folder, isListed } of folders) {
    const inside = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort();
    for (const path of ['', ...inside].map((name) => join(folder, name)))
      if (isListed || isFile(root, path)) found.set(path, path.replace(/^docs\//, ''));
  }
  return found;
}

/** Reads the groups of docs/README.md: `## Group`, then `- [Title](file.md): description`. */
function listContents(root: string, addresses: ReadonlyMap<string, string>): readonly DocsGroup[] {
  const [, ...groups] = readFileSync(join(root, 'docs/README.md'), 'utf8').split(/^## /m);
  return groups.map((group) => ({
    title: group.slice(0, group.indexOf('\n')),
    entries: Array.from(group.matchAll(/^- \[(.+?)\]\((.+?)\): /gm), ([, title = '', file = '']) => ({
      title,
      name: addresses.get(join('docs', file)) ?? '',
    })),
  }));
}

/** Renders a document. Also returns its sections with their text, for the searches of the docs and of the console. */
function render(site: Site, path: string, address: string) {
  const headings: Heading[] = [];
  const anchors = new Map<string, number>();
  const up = upFrom(address);
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const content = this.parser.parseInline(tokens);
        const title = this.parser.parseInline(tokens, this.parser.textRenderer);
        const anchor = unique(formatAnchor(title), anchors);
        headings.push({ title, anchor, depth });
        return `<h${depth} id="${anchor}">${content}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const content = this.parser.parseInline(tokens);
        const target = resolve(site, path, href);
        return target === undefined
          ? content
          : `<a href="${escaped(isAbsolute(target) ? target : up + target)}">${content}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        return `<img src="${escaped(up + resolve(site, path, href)!)}" alt="${escaped(text)}" loading="lazy">`;
      },
      code({ text }: Tokens.Code) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
    },
  });
  const body = String(marked.parse(readFileSync(join(site.root, path), 'utf8')))
    .replaceAll('<table>', '<div class="table-scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  const [first] = headings;
  const title = first?.title ?? address;
  return {
    page: pageFile(
      site,
      address,
      title,
      body,
      headings.filter(({ depth }) => depth === 2),
    ),
    sections: headings.map((heading, at) => ({
      depth: heading.depth,
      title: heading.title,
      page: title,
      to: heading === first ? address : `${address}#${heading.anchor}`,
      text: readSection(body, heading, headings[at + 1]),
    })),
  };
}

interface Heading {
  readonly title: string;
  readonly anchor: string;
  readonly depth: number;
}

/** Returns the text between two headings of a rendered document, without its tags. */
function readSection(body: string, from: Heading, to: Heading | undefined): string {
  const start = body.indexOf('</h', body.indexOf(` id="${from.anchor}">`));
  const end = to === undefined ? body.length : body.indexOf(` id="${to.anchor}">`);
  const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return body
    .slice(start, end)
    .replace(/<[^>]*>?/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!)
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns the anchor of a heading, as GitHub generates it. */
function formatAnchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function unique(anchor: string, taken: Map<string, number>): string {
  const count = taken.get(anchor) ?? 0;
  taken.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

/**
 * Returns the address of a link's target, from the root of the console; `undefined` for a file that is not served.
 * @throws {Error} if the target does not exist
 */
function resolve({ root, addresses }: Site, from: string, href: string): string | undefined {
  if (isAbsolute(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(root, target))) throw new Error(`${from} links to ${href}, which does not exist`);
  const address = addresses.get(target.replace(/\/$/, ''));
  if (address === undefined) return undefined;
  return `docs${address && '/'}${address}${anchor === undefined ? '' : `#${anchor}`}`;
}

const isAbsolute = (href: string) => /^[a-z]+:/.test(href);

/** Returns the path from a page below `/docs` to the root of the console. */
function upFrom(address: string): string {
  return address === '' ? './' : '../'.repeat(address.split('/').length);
}

/** Renders a list of the files in each listed folder. */
function listings(site: Site): readonly CompressedFile[] {
  const all = [...site.addresses];
  const inside = all.filter(([path]) => !isFile(site.root, path));
  return inside.map(([folder, address]) => {
    const items = all
      .filter(([path]) => dirname(path) === folder)
      .map(([path, to]) => `<li><a href="${upFrom(address)}docs/${to}">${escaped(basename(path))}</a></li>`);
    return pageFile(site, address, address, `<h1>${escaped(address)}</h1>\n<ul>${items.join('\n')}</ul>`, []);
  });
}

function pageFile(
  { contents, names }: Site,
  address: string,
  title: string,
  body: string,
  sections: readonly { readonly title: string; readonly anchor: string }[],
): CompressedFile {
  const page = { contents, ...names, name: address, up: upFrom(address), title, body, sections };
  return compressed(address, 'text/html; charset=utf-8', Buffer.from(docsPage(page))).file;
}

function asIs(root: string, path: string, address: string): CompressedFile {
  const type = mediaTypes[extname(path)] ?? 'text/plain; charset=utf-8';
  return compressed(address, type, readFileSync(join(root, path))).file;
}
