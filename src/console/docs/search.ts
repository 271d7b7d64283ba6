/* Searches the headings and the text of all docs. The index is loaded when the field gets the focus. */

interface Section {
  readonly title: string;
  readonly page: string;
  /** Address below `/docs`. */
  readonly to: string;
  readonly text: string;
}

/** Maximum number of shown results. */
const most = 20;

/** Number of characters of an excerpt on each side of the first match. */
const around = 80;

const root = new URL('../../', import.meta.url);
const box = document.querySelector<HTMLElement>('.docs-search')!;
const field = box.querySelector('input')!;
const results = document.querySelector<HTMLElement>('.docs-results')!;

type Index = readonly Section[];

let index: Promise<{ readonly default: Index }> | undefined;

async function readIndex(): Promise<Index | undefined> {
  index ??= import(new URL('docs/search.js', root).href);
  try {
    return (await index).default;
  } catch {
    // The next search loads the index again.
    index = undefined;
    return undefined;
  }
}

/** Returns the relevance of a section: 0 unless it contains every word. */
function rate({ title, page, text }: Section, words: readonly string[]): number {
  const count = (place: string, word: string) => place.toLowerCase().split(word).length - 1;
  const rates = words.map((word) => 10 * count(title, word) + 3 * count(page, word) + Math.min(5, count(text, word)));
  return rates.includes(0) ? 0 : rates.reduce((sum, each) => sum + each, 0);
}

function find(sections: Index, words: readonly string[]): Index {
  return sections
    .map((section) => ({ section, rate: rate(section, words) }))
    .filter((each) => each.rate > 0)
    .sort((a, b) => b.rate - a.rate)
    .map(({ section }) => section);
}

/** Returns the text around the first word, which is marked. */
function excerpt(text: string, [word = '']: readonly string[]): (Node | string)[] {
  const at = text.toLowerCase().indexOf(word);
  if (at < 0) return [text.slice(0, 2 * around)];
  const mark = document.createElement('mark');
  mark.textContent = text.slice(at, at + word.length);
  const end = at + word.length;
  const before = at > around ? `… ${text.slice(at - around, at).replace(/^\S*\s/, '')}` : text.slice(0, at);
  return [before, mark, text.slice(end, end + around).replace(/\s\S*$/, ' …')];
}

function element(name: string, ...children: readonly (Node | string)[]): HTMLElement {
  const created = document.createElement(name);
  created.append(...children);
  return created;
}

function formatResult({ title, page, to, text }: Section, words: readonly string[]): HTMLElement {
  const link = document.createElement('a');
  link.href = new URL(`docs/${to}`, root).href;
  link.textContent = title === page ? title : `${page}: ${title}`;
  link.addEventListener('click', clear);
  return element('li', link, element('p', ...excerpt(text, words)));
}

function clear(): void {
  field.value = '';
  results.hidden = true;
}

async function show(): Promise<void> {
  const query = field.value.trim();
  if (query === '') return clear();
  const words = query.toLowerCase().split(/\s+/);
  const sections = await readIndex();
  // The reader might have typed more while the index was being loaded.
  if (field.value.trim() !== query) return;
  const found = find(sections ?? [], words);
  const count = found.length === 0 ? `No results for “${query}”` : `Results: ${found.length}`;
  const status = element('p', sections === undefined ? 'Cannot load the index of the search. Try again.' : count);
  status.setAttribute('role', 'status');
  const list = element('ol', ...found.slice(0, most).map((each) => formatResult(each, words)));
  results.replaceChildren(element('h1', 'Search results'), status, list);
  results.hidden = false;
}

field.addEventListener('focus', () => void readIndex());
field.addEventListener('input', () => void show());
box.hidden = false;
