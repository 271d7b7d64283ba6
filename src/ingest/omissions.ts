import { type LedgerNote, omissionCodes } from '../contract/notes.ts';
import type { Batch } from '../storage/commit/batch.ts';
import type { AttributedSource, Ledger } from './ledger/ledger.ts';

/** The notes on a message, each with the path of the first entry that it is about, if that is known. */
export type Notes<Code extends LedgerNote = LedgerNote> = Map<Code, string | undefined>;

/** The first path stays. */
export function addNote<Code extends LedgerNote>(notes: Notes<Code>, code: Code, ...path: Path): void {
  if (!notes.has(code)) notes.set(code, path.length === 0 ? undefined : pathText(path));
}

const omissions: ReadonlySet<LedgerNote> = new Set(omissionCodes);

/** The value of `notedHeader`: the first entry that was left out. `undefined` if none was. */
function omissionIn(notes: Notes): string | undefined {
  for (const [code, path] of notes)
    if (omissions.has(code)) return path === undefined ? code : `${code}; ${path}`;
  return undefined;
}

/** Counts notes in the ledger. @returns see `omissionIn` */
export function recordNotes(
  ledger: Pick<Ledger, 'noted'>,
  source: AttributedSource,
  notes: Notes,
  batch: Batch,
): string | undefined {
  for (const [code, path] of notes) ledger.noted(source, code, batch, path);
  return omissionIn(notes);
}

/** Names of fields and indexes of lists, from the outside in. */
export type Path = readonly (string | number)[];

const plain = /^[A-Za-z_$][\w$-]*$/;
const cut = '...';
/** Maximum characters of a name in a path, before `cut`. */
const longestName = 80;
/** The same of a path. */
const longest = 200;
export const longestPath = longest + cut.length;

/**
 * A path as text: `f.checkout.on[0]`, `stats[2].variantStats["caf\\u00e9"]`. It consists of printable ASCII, so it is safe in a header
 * whatever the names are, and is truncated.
 */
export function pathText(path: Path): string {
  const text = path.map(stepText).join('').replace(/^\./, '');
  return text.length <= longest ? text : `${text.slice(0, longest)}${cut}`;
}

function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  const name = step.length <= longestName ? step : `${step.slice(0, longestName)}${cut}`;
  if (plain.test(name)) return `.${name}`;
  return `["${JSON.stringify(name)
    .slice(1, -1)
    .replace(/[\x7f-\uffff]/g, escaped)}"]`;
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
