import { replaceActive } from '../../../contract/escaping.ts';

/** HTML text. Only `html` creates it, so all text in a page is escaped. */
export class Html {
  readonly text: string;

  /** @param text HTML in which every part is either escaped or written by us */
  constructor(text: string) {
    this.text = text;
  }
}

/** Values that a template accepts. The items of a list are joined, and `undefined` becomes an empty text. */
type TemplateValue = string | number | Html | readonly Html[] | undefined;

/** An HTML template that escapes every text, also within quoted attributes. */
export function html(strings: TemplateStringsArray, ...values: readonly TemplateValue[]): Html {
  const texts = strings.map((string, at) => string + renderValue(values[at]));
  return new Html(texts.join(''));
}

function renderValue(value: TemplateValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  const shown = replaceActive(String(value), () => '\ufffd');
  return shown.replace(/[&<>"']/g, (character) => escapes[character]!);
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
