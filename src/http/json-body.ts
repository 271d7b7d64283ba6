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

/** @returns throws `invalid_body`, with a detail that names the field, and the errors of `readBody`, `decodeText` and `parseJson` */
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

/** The code and detail for violations at a path of the schema. The first matching row applies. */
export type FaultRows = readonly (readonly [schemaPath: RegExp, code: RefusalCode, detail?: string])[];

interface Options {
  /** If no row matches, the code is `invalid_body`. */
  readonly rows?: FaultRows;
  /** The name of a position, given its JSON pointer. */
  readonly describePlace?: (pointer: string) => string;
}

/**
 * The error for a value that violates a schema. It names the position of the first violation, but not the value there. An
 * unknown field comes first, because it may be the misspelling of a missing one.
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

/** A missing field has the path of `required`. */
function getSchemaPath({ schemaPath, keyword }: Fault): string {
  return keyword === 'required' ? `${schemaPath}/required` : schemaPath;
}

/**
 * The first violation inside a union: the value has the kind of one member, but is incomplete. Otherwise the violation itself.
 */
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

/** An unknown field has the schema `false`, which accepts nothing. */
function isUnknown({ keyword }: Fault): boolean {
  return keyword === 'boolean';
}

function must(fault: Fault): string {
  if (isUnknown(fault)) return 'is unknown';
  if (fault.keyword === 'const') return `must be ${JSON.stringify(fault.params.allowedValue)}`;
  return fault.message;
}
