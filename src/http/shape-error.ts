import type { Validator } from 'typebox/compile';
import { ApiError } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';

/** What a schema has against a value. */
type Fault = ReturnType<Validator['Errors']>[number];

/** The code, and the detail, for faults at a path of the schema. The first row that fits counts. */
export type FaultRows = readonly (readonly [schemaPath: RegExp, code: RefusalCode, detail?: string])[];

interface Options {
  /** Where no row fits, the code is `invalid_body`. */
  readonly rows?: FaultRows;
  /** Names the place of a fault by its JSON pointer. */
  readonly placeOf?: (pointer: string) => string;
}

/**
 * The error for a value that a schema does not take: it names the place of the first fault, but not the value there. An
 * unknown field comes first, because it may be a misspelt one that is missing.
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

/** The first fault inside a value that may be of several kinds: it is of one of them, but not whole. Otherwise the fault itself. */
function insideChoice(first: Fault, faults: readonly Fault[]): Fault {
  const { instancePath } = first;
  const isAny = faults.some((fault) => fault.instancePath === instancePath && isChoice(fault));
  const inside = faults.find((fault) => fault.instancePath.startsWith(`${instancePath}/`));
  return isAny ? (inside ?? first) : first;
}

/** What the value must be; where it is one of a choice, each of them. */
function mustsOf(first: Fault, faults: readonly Fault[]): readonly string[] {
  const here = faults.filter(({ instancePath }) => instancePath === first.instancePath);
  if (!here.some(isChoice)) return [must(first)];
  return [...new Set(here.filter((fault) => !isChoice(fault)).map(must))];
}

function isChoice({ keyword }: Fault): boolean {
  return keyword === 'anyOf';
}

/** An unknown field has a schema of its own that takes nothing: `false`. */
function isUnknown({ keyword }: Fault): boolean {
  return keyword === 'boolean';
}

function must(fault: Fault): string {
  if (isUnknown(fault)) return 'is not known here';
  if (fault.keyword === 'const') return `must be ${JSON.stringify(fault.params.allowedValue)}`;
  return fault.message;
}
