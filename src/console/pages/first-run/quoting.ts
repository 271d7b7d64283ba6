/*
 * How texts stand in the snippets. Names come from people: none may end a quoted text, in a shell or in a program. Characters that
 * could are written as JSON escapes, so that the rest stays readable.
 */

/** Letters, digits and what is harmless within quotes of every language here. */
const harmless = /^[\p{L}\p{N} _.,:;/?&=()+*@#~^|-]$/u;

/** JSON in which no text has a quote, a backslash but those of escapes, a dollar, a percent sign or a brace. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value, (_, each) => each).replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) =>
    safeText(JSON.parse(text) as string),
  );
}

/** A text in double quotes, for JSON, JavaScript and others that know `\uXXXX`. */
export function safeText(text: string): string {
  let quoted = '';
  for (const character of text) quoted += harmless.test(character) ? character : escaped(character);
  return `"${quoted}"`;
}

function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at += 1)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text;
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** An address that can stand within quotes of every language here. */
export function safeUrl(base: string, path: string): string {
  return new URL(base.replace(/\/$/, '') + path).href.replaceAll("'", '%27').replaceAll('$', '%24');
}
