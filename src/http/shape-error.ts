import type { Validator } from 'typebox/compile';
import { ApiError } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';

/** A violation of a schema. */
type Fault = ReturnType<Validator['Errors']>[number];

/** The code and detail for violations at a path of the schema. The first matching row applies. */
export type FaultRows = readonly (readonly [schemaPath: RegExp, code: RefusalCode, detail?: string])[];

interface Options {
  /** If no row matches, the code is `invalid_body`. */
  readonly rows?: FaultRows;
  /** Names the position of a violation by its JSON pointer. */
  readonly placeOf?: (pointer: string) => string;
}

/**
 * The error for a value that violates a schema. It names the position of the first violation, but not the value there. An
 * unknown field comes first, because it may be the misspelling of a missing one.
 */
export function shapeError(faults: readonly Fault[], options: Options = {}): ApiError {
  const { rows = [], placeOf = (pointer) => `The value at ${pointer.slice(0, 300)}` } = options;
  const first = faults.find(isUnknown) ?? faults[0];
  if (first === undefined) return new ApiError('invalid_body', 'The body does not have the expected shape');
  const [, code = 'invalid_body', detail] = rows.find(([path]) => path.test(pathOf(first))) ?? [];
  const told = insideChoice(first, faults);
  const place = told.instancePath === '' ? 'The body' : placeOf(told.instancePath);
  return new ApiError(code, detail ?? `${place} ${mustsOf(told, faults).join(' or ')}`);
}

/** A missing field has the path of `required`. */
function pathOf({ schemaPath, keyword }: Fault): string {
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

/** The requirement on the value; for a choice, each of them. */
function mustsOf(first: Fault, faults: readonly Fault[]): readonly string[] {
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
