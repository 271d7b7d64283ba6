/** The names in a list that is separated by commas, each once. */
export function environmentNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}
