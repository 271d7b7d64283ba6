/** A cell: numbers stay numbers, and what is absent is empty. */
export type CsvValue = string | number | boolean | null | undefined;

/** A table as CSV (RFC 4180). */
export function toCsv(titles: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Lets the reader save a table. */
export function downloadCsv(name: string, csv: string): void {
  // The mark tells spreadsheets that it is UTF-8.
  const url = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}._-]+/gu, '-')}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function cell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  // A spreadsheet would run a text that begins so as a formula. Names come from outside.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
