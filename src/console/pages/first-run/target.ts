/*
 * Quotes texts in snippets. Names come from users, and must not end a quotation in a shell or a program. Therefore,
 * characters that could end it are written as JSON escapes.
 */

import type { KeyType } from '../application-settings/key-types.ts';

export interface Connection {
  readonly metricsUrl: string;
  readonly environment: string;
  readonly key: string;
  readonly keyType: KeyType;
  readonly allowedOrigins: readonly string[];
}

export interface Target {
  readonly id: string;
  readonly label: string;
  /** Types of keys that the target can use, the most common type first. */
  readonly keyTypes: readonly KeyType[];
  readonly lines: (connection: Connection) => Lines;
}

/** The lines of a target, with the real URL, environment and key. */
export interface Lines {
  readonly intro: string;
  readonly blocks: readonly Block[];
}

export interface Block {
  /** Name of the block, such as "sender for curl". */
  readonly name: string;
  readonly how: string;
  readonly code: string;
}

/** Characters that are safe within the quotes of all languages used here. */
const harmless = /^[\p{L}\p{N} _.,:;/?&=()+*@#~^|-]$/u;

/** Formats JSON for snippets. Its texts have no quotes, `$`, `%` or braces, and backslashes only in escapes. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value, (_, each) => each).replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) =>
    safeText(JSON.parse(text) as string),
  );
}

/** Puts a text in double quotes, for JSON, JavaScript and other languages with `\uXXXX`. */
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

/** Quotes a text as a word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a URL that is safe within the quotes of all languages used here. */
export function safeUrl(base: string, path: string): string {
  return new URL(base.replace(/\/$/, '') + path).href.replaceAll("'", '%27').replaceAll('$', '%24');
}
