import { replaceActive } from '../../contract/active-characters.ts';

/** Text that is HTML. Only `html` makes it, so nothing gets into a page unescaped. */
export class Html {
  readonly text: string;

  /** @param text of which every part is escaped or our own */
  constructor(text: string) {
    this.text = text;
  }
}

/** What can stand in a template: a list is joined, and nothing is nothing. */
type Part = string | number | Html | readonly Html[] | undefined;

/** A template of HTML, in which every text is escaped, also within quoted attributes. Active characters are replaced. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const texts = strings.map((string, at) => string + textOf(parts[at]));
  return new Html(texts.join(''));
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  const shown = replaceActive(String(part), () => '\ufffd');
  return shown.replace(/[&<>"']/g, (character) => escapes[character]!);
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
