/** Parses CSV (RFC 4180). Every row ends in CR LF. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  for (let row: string[] = []; cell.lastIndex < text.length; ) {
    const found = cell.exec(text);
    if (found === null) throw new Error(`No CSV: ${text}`);
    const [, quoted, plain, end] = found;
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

export function readTable(text: string): Record<string, string>[] {
  const [names = [], ...rows] = readCsv(text);
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ''])));
}
