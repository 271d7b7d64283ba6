import type { Static, TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';
import { Refusal } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import { compiled } from '../runtime/compiled.ts';
import { decodeText, parseJson, readBody } from './body.ts';
import type { Request } from './types.ts';

/** Usual maximum decompressed length of a JSON body in bytes. */
export const maxJsonBody = 65_536;

interface JsonBodyOptions {
  /** Maximum decompressed length in bytes. */
  readonly limit?: number | undefined;
  /** True if an empty body is read as `{}`. */
  readonly optional?: boolean | undefined;
}

/** Returns a reader of bodies. It throws `invalid_body` with the field's name, or the refusals of `readBody`. */
export function jsonBody<Schema extends TSchema>(
  schema: Schema,
  { limit = maxJsonBody, optional = false }: JsonBodyOptions = {},
): (request: Request) => Promise<Static<Schema>> {
  const checker = compiled(schema);
  return async (request) => {
    const text = decodeText(await readBody(request, limit));
    const value = optional && text === '' ? {} : parseJson(text);
    if (checker().Check(value)) return value as Static<Schema>;
    throw shapeError(checker().Errors(value), { describePlace: (pointer) => `Field ${pointer.slice(1, 100)}` });
  };
}

type Fault = ReturnType<Validator['Errors']>[number];

/** Code and detail of each kind of violation, by a pattern of the schema path. The first matching row applies. */
export type FaultRows = readonly (readonly [schemaPath: RegExp, code: RefusalCode, detail?: string])[];

interface Options {
  /** Rows, highest priority first. If no row matches, the code is `invalid_body`. */
  readonly rows?: FaultRows;
  /** Returns the description of a position in the value, given its JSON pointer. */
  readonly describePlace?: (pointer: string) => string;
}

/**
 * Returns the error for a value that violates a schema. The error names the position of the first violation, but not
 * the value. Unknown fields take precedence over missing fields, because an unknown field can be a misspelling of a
 * missing one.
 */
export function shapeError(faults: readonly Fault[], options: Options = {}): Refusal {
  const { rows = [], describePlace = (pointer) => `The value at ${pointer.slice(0, 300)}` } = options;
  const first = faults.find(isUnknown) ?? faults[0];
  if (first === undefined) return new Refusal('invalid_body', 'The body does not have the expected shape');
  const [, code = 'invalid_body', detail] = rows.find(([path]) => path.test(getSchemaPath(first))) ?? [];
  const told = insideChoice(first, faults);
  const place = told.instancePath === '' ? 'The body' : describePlace(told.instancePath);
  return new Refusal(code, detail ?? `${place} ${listRequirements(told, faults).join(' or ')}`);
}

/** Returns the schema path of a violation. The path of a missing field ends in `required`. */
function getSchemaPath({ schemaPath, keyword }: Fault): string {
  return keyword === 'required' ? `${schemaPath}/required` : schemaPath;
}

/** Returns the first violation in an alternative of a union, if `first` is the violation of that union; else `first`. */
function insideChoice(first: Fault, faults: readonly Fault[]): Fault {
  const { instancePath } = first;
  const isAny = faults.some((fault) => fault.instancePath === instancePath && isChoice(fault));
  const inside = faults.find((fault) => fault.instancePath.startsWith(`${instancePath}/`));
  return isAny ? (inside ?? first) : first;
}

function listRequirements(first: Fault, faults: readonly Fault[]): readonly string[] {
  const here = faults.filter(({ instancePath }) => instancePath === first.instancePath);
  if (!here.some(isChoice)) return [must(first)];
  return [...new Set(here.filter((fault) => !isChoice(fault)).map(must))];
}

function isChoice({ keyword }: Fault): boolean {
  return keyword === 'anyOf';
}

/** True for an unknown field. Its schema is `false`, which accepts nothing. */
function isUnknown({ keyword }: Fault): boolean {
  return keyword === 'boolean';
}

function must(fault: Fault): string {
  if (isUnknown(fault)) return 'is unknown';
  if (fault.keyword === 'const') return `must be ${JSON.stringify(fault.params.allowedValue)}`;
  return fault.message;
}
