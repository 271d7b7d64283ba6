/** The lines of a field that are not empty. */
export function linesOf(data: FormData, name: string): readonly string[] {
  const lines = String(data.get(name) ?? '').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}
