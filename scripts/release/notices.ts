import type { Component } from './parts.ts';

const opening = `flagmeter is licensed under the Apache License 2.0. Its executable contains the following parts by others.

Bun contains JavaScriptCore, which is under the LGPL: you may change it and link the executable again. Build Bun with your
JavaScriptCore as described at its address, replace node_modules/bun by your Bun, and build flagmeter from its source.
`;

const rule = `\n${'-'.repeat(78)}\n\n`;

/**
 * Returns the notices that are shipped with the executable. A licence text that several parts share is printed once,
 * below their names.
 */
export function noticesText(parts: readonly Component[]): string {
  const headings = new Map<string, string[]>();
  for (const part of parts) {
    const text = part.text ?? absent(part);
    headings.set(text, [...(headings.get(text) ?? []), heading(part)]);
  }
  const sections = Array.from(headings, ([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return [opening, ...sections].join(rule);
}

function absent({ parts = [], url }: Component): string {
  const inside = parts.map((part) => `  ${heading(part)}\n    ${part.url}`);
  const list = inside.length === 0 ? '' : `\n\nIt contains:\n\n${inside.join('\n')}`;
  return `Its licence is published at ${url}${list}`;
}

function heading({ name, version = '', license = 'several licences, listed at its address' }: Component): string {
  return `${`${name} ${version}`.trimEnd()} (${license})`;
}
