import { Refusal } from '../contract/errors.ts';
import { type LedgerNote, omissionCodes } from '../contract/notes.ts';
import type { Batch } from '../storage/commit/batch.ts';
import type { AttributedSource, Ledger } from './ledger/ledger.ts';

/** Notes about a message, each with the path of the first entry concerned, if known. */
export type Notes<Code extends LedgerNote = LedgerNote> = Map<Code, string | undefined>;

/** Adds a note. Only its first path is kept. */
export function addNote<Code extends LedgerNote>(notes: Notes<Code>, code: Code, ...path: Path): void {
  if (!notes.has(code)) notes.set(code, path.length === 0 ? undefined : pathText(path));
}

const omissions: ReadonlySet<LedgerNote> = new Set(omissionCodes);

/** Returns the value of `notedHeader`: the first entry that was left out; `undefined` if the message is complete. */
function omissionIn(notes: Notes): string | undefined {
  for (const [code, path] of notes) if (omissions.has(code)) return path === undefined ? code : `${code}; ${path}`;
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

/** Path to a value: names of fields and indexes of lists, from the outside in. */
export type Path = readonly (string | number)[];

const plain = /^[A-Za-z_$][\w$-]*$/;
const cut = '...';
/** Maximum length of a name in a path, without the added `cut`. */
const longestName = 80;
/** Maximum length of a path, without the added `cut`. */
const longest = 200;
export const longestPath = longest + cut.length;

/**
 * Formats a path as text: `f.checkout.on[0]`, `stats[2].variantStats["caf\\u00e9"]`. The text is printable ASCII, so
 * that it is safe in a header with any names, and truncated.
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

/** Schema keywords that packets and reports use. `omitInvalid` ignores any other keyword. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: { readonly '': Schema };
}

type Holder = Record<string | number, unknown>;

/**
 * Checks the optional values of a parsed body, which can be `null` or `[]`. Only a defective program sends a wrong
 * type, or a negative or fractional count, so such a body is refused. A correct program can send a number that is too
 * large, not finite or `null`, so only this value is left out.
 *
 * A value that is left out becomes `NaN` if it is a numeric field, and 0 if it is a count in a list, because the
 * position of a count has a meaning. Any other map entry is deleted. Any other field or list entry becomes `null`, so
 * that the number of list entries stays the same.
 * @param exact the same body with large numbers as texts (see `quoteLargeNumbers`); it is modified
 * @returns the path of the first value that was left out
 * @throws {Refusal} `invalid_body` with the path of a wrong value
 */
export function omitInvalid(schema: object, body: object, exact: object = body): string | undefined {
  const walk = new Walk();
  walk.visit(schema as Schema, body as Holder, exact as Holder);
  return walk.omitted;
}

/** Returns the fields of a parsed body that its schema requires, without their list entries. */
export function pickRequired({ required }: { readonly required?: readonly string[] }, body: unknown): unknown {
  if (!isHolder(body) || Array.isArray(body)) return body;
  const present = (required ?? []).filter((field) => Object.hasOwn(body, field));
  return Object.fromEntries(present.map((field) => [field, Array.isArray(body[field]) ? [] : body[field]]));
}

/** Formats the name of an invalid field for `shapeError`. @param pointer JSON pointer of the field */
export function describePlace(pointer: string): string {
  return pathText([pointer.slice(1)]);
}

class Walk {
  omitted: string | undefined;
  readonly #path: (string | number)[] = [];

  visit(schema: Schema, value: Holder, exact: Holder): void {
    if (Array.isArray(value)) this.#visitList(schema, value, exact);
    else this.#visitObject(schema, value, exact);
  }

  #visitList({ items }: Schema, list: readonly unknown[], exact: Holder): void {
    if (items === undefined) return;
    for (const [at, item] of list.entries()) {
      this.#path.push(at);
      if (!this.#keeps(items, item)) exact[at] = isCount(items) ? 0 : null;
      else if (isHolder(item)) this.visit(items, item, exact[at] as Holder);
      this.#path.pop();
    }
  }

  #visitObject({ properties, patternProperties }: Schema, value: Holder, exact: Holder): void {
    for (const key in value) {
      const schema = properties === undefined ? patternProperties?.[''] : findField(properties, key);
      if (schema?.type === undefined) continue;
      const each = value[key];
      this.#path.push(key);
      if (isEmptyList(each) && allows(schema, 'null') && !allows(schema, 'array')) exact[key] = null;
      else if (this.#keeps(schema, each)) {
        if (isHolder(each)) this.visit(schema, each, exact[key] as Holder);
      } else if (isNumber(schema)) exact[key] = Number.NaN;
      else if (properties === undefined) delete exact[key];
      else exact[key] = null;
      this.#path.pop();
    }
  }

  /** True if a value is kept. Its members are not checked here. @throws {Refusal} if the value is wrong */
  #keeps(schema: Schema, value: unknown): boolean {
    if (value === null) {
      if (allows(schema, 'null')) return true;
      if (allows(schema, 'object')) throw wrong(this.#path, schema);
      return this.#omit();
    }
    if (!allows(schema, describeType(value))) throw wrong(this.#path, schema);
    if (typeof value === 'number') return this.#keepsNumber(schema, value);
    if (!Array.isArray(value)) return true;
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) throw wrong(this.#path, schema);
    return true;
  }

  #keepsNumber(schema: Schema, value: number): boolean {
    const { minimum, maximum = Number.POSITIVE_INFINITY } = schema;
    const isFraction = Number.isFinite(value) && !Number.isInteger(value);
    if (minimum !== undefined && (value < minimum || isFraction)) throw wrong(this.#path, schema);
    return (Number.isFinite(value) && value <= maximum) || this.#omit();
  }

  #omit(): false {
    this.omitted ??= pathText(this.#path);
    return false;
  }
}

function wrong(path: Path, schema: Schema): Refusal {
  return new Refusal('invalid_body', `${pathText(path)} must be ${describeRequirement(schema)}`);
}

function describeRequirement({ properties, patternProperties, items, maxItems, minimum, ...schema }: Schema): string {
  if (properties !== undefined || patternProperties !== undefined) return 'an object';
  if (items !== undefined) return maxItems === undefined ? 'an array' : `an array of at most ${maxItems} numbers`;
  if (minimum !== undefined) return `a whole number from ${minimum}`;
  if (schema.type?.includes('integer')) return 'a whole number';
  return allows(schema, 'string') ? 'a string' : 'a number';
}

function findField(properties: Readonly<Record<string, Schema>>, key: string): Schema | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function describeType(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function allows({ type = [] }: Schema, actual: string): boolean {
  const types = typeof type === 'string' ? [type] : type;
  return types.includes(actual) || (actual === 'number' && types.includes('integer'));
}

function isCount({ type }: Schema): boolean {
  return type === 'integer';
}

function isNumber(schema: Schema): boolean {
  return allows(schema, 'number') && !allows(schema, 'string');
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null;
}

/** True for an empty list. PHP encodes an empty map as an empty list. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
