import Type, { type Static } from 'typebox';
import type { Validator } from 'typebox/compile';
import { ApiError } from '../errors.ts';
import { parseJson } from '../http/body.ts';
import { type FaultRows, shapeError } from '../http/shape-error.ts';
import { environmentNamed, sentName, sentTime } from '../ingest/sender-schemas.ts';
import { parseTime } from '../rfc3339.ts';
import { quoteLargeNumbers } from './exact-integers.ts';
import { narrowToFault, pointerBefore } from './first-fault.ts';
import { checkHead } from './head.ts';
import type { ReportHead } from './report.ts';

/**
 * What the JSON of usage and of metrics reports has in common. Optional fields may be `null`: serializers send that. PHP
 * writes a name that looks like an integer as a number, and an empty map as a list.
 */

const nullable = <T>(type: string | readonly string[], options: object = {}) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...options }));

export const count = () => nullable<number>('integer', { minimum: 0, maximum: 2_147_483_647 });
export const number = () => nullable<number>('number');
export const text = (options: object = {}) => nullable<string>('string', options);
export const listOf = <T extends Type.TSchema>(items: T, options: object = {}) =>
  nullable<readonly Static<T>[]>('array', { items, ...options });

/** The pattern is empty because TypeBox's own record pattern does not match every name: see `Named` in packet.ts. */
export const mapOf = <T extends Type.TSchema>(values: T, options: object = {}) =>
  nullable<Readonly<Record<string, Static<T>>>>(['object', 'array'], {
    patternProperties: { '': values },
    items: {},
    maxItems: 0,
    ...options,
  });

type Name = string | number;

/** A name, which must be there. */
export const name = (options: object = sentName) =>
  Type.Unsafe<Name>({ type: ['string', 'number'], ...options });
export const optionalName = (options: object = sentName) => nullable<Name>(['string', 'number'], options);

/** Fields of both kinds of report. */
export const headFields = {
  appKey: Type.String({
    description: 'Application key of any type.',
    documented: { minLength: 1, maxLength: 256 },
  }),
  environment: name({ description: 'Name of the environment.', ...environmentNamed }),
  time: Type.String({ description: 'Time of the report.', ...sentTime }),
  instanceName: optionalName({
    description: 'Name of the process that reports; an empty one is none.',
    ...sentName,
  }),
  processStartTime: text({ description: 'When that process started.', ...sentTime }),
};

/** The fields of `headFields`, checked. @throws {ApiError} of status 400 */
export function readHead(body: Static<Type.TObject<typeof headFields>>): ReportHead {
  const { appKey, environment, instanceName, processStartTime } = body;
  return checkHead({
    appKey,
    environment: String(environment),
    time: readTime(body.time, 'time'),
    instanceName: instanceName == null ? undefined : String(instanceName),
    processStartTime: processStartTime == null ? undefined : readTime(processStartTime, 'processStartTime'),
  });
}

/**
 * The body as what the schema of `checker` describes. Numbers that a double does not hold exactly become strings, to read
 * names and hashes from, but only after the check: the schema knows them as numbers.
 * @throws {ApiError} of status 400, saying what is wrong and where
 */
export function readReport<T extends Type.TSchema>(
  checker: Validator<Type.TProperties, T>,
  json: string,
): Static<T> {
  const body = parseJson(json);
  if (!checker.Check(body)) throw faultOf(checker, body);
  return (/\d{16}/.test(json) ? JSON.parse(quoteLargeNumbers(json)) : body) as Static<T>;
}

/** Unix ms of an RFC 3339 time. @throws {ApiError} `invalid_time`, naming the field by `where` */
export function readTime(spelled: string, where: string): number {
  const time = parseTime(spelled);
  if (time === undefined) throw new ApiError('invalid_time', `${where} must be like 2026-01-31T12:00:00Z`);
  return time;
}

function faultOf(checker: Validator, body: unknown): ApiError {
  const narrowed = narrowToFault(body, (part) => checker.Check(part)) ?? { body, at: 0 };
  return shapeError(checker.Errors(narrowed.body), {
    rows,
    placeOf: (pointer) => `The value at ${pointerBefore(pointer, narrowed).slice(0, 300)}`,
  });
}

const rows: FaultRows = [
  [/\/(\w*Count|totalUniqueUsers|definitionCache\w+)$/, 'invalid_count'],
  [/\/(value|valueDisabled|variantValues\/patternProperties\/)$/, 'invalid_number'],
  [/Hashes\/items$/, 'invalid_hash'],
  [/\/(time|processStartTime)$/, 'invalid_time'],
];
