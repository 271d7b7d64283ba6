import { csvText } from '../../contract/escaping.ts';

/** Saves a file in the reader's downloads. @param name without the extension; special characters become hyphens */
export function download(name: string, extension: 'csv' | 'md' | 'png', content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}._-]+/gu, '-')}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export type CsvValue = string | number | boolean | null | undefined;

export function toCsv(titles: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

export function downloadCsv(name: string, csv: string): void {
  // The byte order mark tells spreadsheets that the file is UTF-8.
  download(name, 'csv', new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }));
}

function cell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? csvText(value) : String(value);
}
