/**
 * Rewrites the rows of a table in a document, and leaves the rest unchanged.
 * @param columns the titles of the columns; no other table in the document may have them
 */
export function withTable(
  document: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`;
  const head = `${line(columns)}|${'---|'.repeat(columns.length)}\n`;
  const [before, after, ...others] = document.split(head);
  if (after === undefined || others.length > 0) throw new Error(`Not one table has the columns ${columns}`);
  return `${before}${head}${rows.map(line).join('')}${after.replace(/^(\|.*\n)*/, '')}`;
}
