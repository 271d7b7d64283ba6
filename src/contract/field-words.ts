/** Settings whose words for people differ from their names. */
const words: ReadonlyMap<string, string> = new Map([
  ['permanent', 'keep for ever'],
  ['snoozedUntil', 'keep until'],
]);

/** Returns the words for a setting: "allowed origins" for `allowedOrigins`. */
export function fieldWords(field: string): string {
  return words.get(field) ?? field.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns a text with a capital first letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
