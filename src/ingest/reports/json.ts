import Type, { type Static } from 'typebox';
import type { Validator } from 'typebox/compile';
import { ApiError } from '../../contract/errors.ts';
import { parseJson } from '../../http/body.ts';
import { type FaultRows, shapeError } from '../../http/shape-error.ts';
import { parseSentTime } from '../../runtime/rfc3339.ts';
import { quoteLargeNumbers } from '../exact-integers.ts';
import { omitInvalid, requiredPart } from '../omit-invalid.ts';
import { environmentNamed, sentName, sentTime } from '../sender-schemas.ts';
import { checkHead } from './head.ts';
import type { ReportHead, ReportNote } from './report.ts';

/**
 * What the JSON of usage and of metrics reports has in common. Optional fields may be `null`: serializers send that. PHP
 * writes a name that looks like an integer as a number, and an empty map as a list.
 */

const nullable = <T>(type: string | readonly string[], options: object = {}) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...options }));

const counted = { minimum: 0, maximum: 2_147_483_647 };

/** A count; `NaN` stands for one that was not valid. */
export const count = () => nullable<number>('integer', counted);
/** A count that is not read, so any value will do. */
export const unreadCount = () =>
  Type.Optional(Type.Unsafe<unknown>({ documented: { type: ['integer', 'null'], ...counted } }));
/** A number; `NaN` stands for one that was not valid. */
export const number = () => nullable<number>('number');
export const text = (options: object = {}) => nullable<string>('string', options);

/** A list; `null` stands for an entry that was not valid. */
export const listOf = <T extends Type.TSchema>(items: T, options: object = {}) =>
  nullable<readonly (Static<T> | null)[]>('array', { items, ...options });

/** The pattern is empty because TypeBox's own record pattern does not match every name: see `Named` in packet.ts. */
export const mapOf = <T extends Type.TSchema>(values: T, options: object = {}) =>
  nullable<Readonly<Record<string, Static<T>>>>(['object', 'array'], {
    patternProperties: { '': values },
    items: {},
    maxItems: 0,
    ...options,
  });

type Name = string | number;

/** The name of an entry. */
export const name = (options: object = sentName) =>
  Type.Unsafe<Name | null | undefined>({ type: ['string', 'number'], ...options });
export const optionalName = (options: object = sentName) => nullable<Name>(['string', 'number'], options);

/** The name of an entry as a text. One that is missing is empty, and so is left out like any name that is not valid. */
export function nameOf(sent: Name | null | undefined): string {
  return sent == null ? '' : String(sent);
}

/** Fields of both kinds of report. */
export const headFields = {
  appKey: Type.String({
    description: 'Application key of any type.',
    documented: { minLength: 1, maxLength: 256 },
  }),
  environment: Type.Unsafe<Name>({
    type: ['string', 'number'],
    description: 'Name of the environment.',
    ...environmentNamed,
  }),
  time: Type.String({ description: 'Time of the report.', ...sentTime }),
  instanceName: optionalName({
    description: 'Name of the process that reports; an empty one counts as missing.',
    ...sentName,
  }),
  processStartTime: text({ description: 'When that process started.', ...sentTime }),
};

/**
 * The fields of `headFields`, checked.
 * @param notes gets what is noted of them
 * @throws {ApiError} of status 400
 */
export function readHead(
  body: Static<Type.TObject<typeof headFields>>,
  notes: Set<ReportNote>,
): Omit<ReportHead, 'notes'> {
  const { appKey, environment, instanceName, processStartTime } = body;
  const time = readTime(body.time, notes);
  if (time === undefined) throw new ApiError('invalid_time', 'time must be like 2026-01-31T12:00:00Z');
  const head = {
    appKey,
    environment: String(environment),
    time,
    instanceName: instanceName == null ? undefined : String(instanceName),
    processStartTime: readTime(processStartTime, notes),
  };
  return checkHead(head, notes);
}

/** A report as it was sent, without what is not valid. */
export interface SentReport<T extends Type.TSchema> {
  readonly body: Static<T>;
  readonly notes: Set<ReportNote>;
}

/**
 * The body as what a schema describes, without the values that it refuses. Numbers that a double does not hold exactly become
 * strings, to read names and hashes from, but only after the check: the schema knows them as numbers.
 * @param checkSent refuses a body that lacks something else
 * @throws {ApiError} of status 400 when the body is not JSON, or lacks what a report must have
 */
export function readReport<T extends Type.TObject>(
  schema: T,
  checker: Validator<Type.TProperties, T>,
  json: string,
  checkSent: (body: Fields) => void = () => {},
): SentReport<T> {
  const body = parseJson(json);
  const isRight = checker.Check(body);
  if (!isRight) checkRequired(schema, checker, body);
  checkSent(body as Fields);
  const exact = /\d{16}/.test(json) ? JSON.parse(quoteLargeNumbers(json)) : body;
  const notes = new Set<ReportNote>();
  if (!isRight && omitInvalid(schema, body as object, exact)) notes.add('value_dropped');
  return { body: exact as Static<T>, notes };
}

/** @throws {ApiError} of status 400 when something is missing that no report can do without */
function checkRequired(schema: Type.TObject, checker: Validator, body: unknown): void {
  const required = requiredPart(schema, body);
  if (!checker.Check(required)) throw shapeError(checker.Errors(required), { rows });
}

/** An object as it was sent. */
export type Fields = Readonly<Record<string, unknown>>;

/** Unix ms of a time as it was sent. One that is not valid is left out. @param notes gets what is noted of it */
export function readTime(sent: string | null | undefined, notes: Set<ReportNote>): number | undefined {
  if (sent == null) return undefined;
  const time = parseSentTime(sent);
  if (time === undefined) notes.add('value_dropped');
  else if (!time.hasZone) notes.add('time_zone_missing');
  return time?.at;
}

const rows: FaultRows = [[/\/time$/, 'invalid_time']];
