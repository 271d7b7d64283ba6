import Type, { type Static } from 'typebox';
import type { Validator } from 'typebox/compile';
import { ApiError } from '../../../contract/errors.ts';
import { parseJson } from '../../../http/body.ts';
import { type FaultRows, shapeError } from '../../../http/shape-error.ts';
import { parseSentTime } from '../../../runtime/rfc3339.ts';
import { quoteLargeNumbers } from '../../exact-integers.ts';
import { addNote, type Path } from '../../omissions.ts';
import { omitInvalid, placeOf, requiredPart } from '../../omit-invalid.ts';
import { environmentNamed, sentName, sentTime } from '../../sender-schemas.ts';
import { checkHead, type ReportHead, type ReportNotes } from './report.ts';

/**
 * Shared by the JSON of usage and metrics reports. Optional fields may be `null`, because serializers send that. PHP encodes a
 * name that looks like an integer as a number, and an empty map as a list.
 */

const nullable = <T>(type: string | readonly string[], options: object = {}) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...options }));

const counted = { minimum: 0, maximum: 2_147_483_647 };

/** A count; `NaN` stands for an invalid one. */
export const count = () => nullable<number>('integer', counted);
/** An ignored count, which may have any value. */
export const unreadCount = () =>
  Type.Optional(Type.Unsafe<unknown>({ documented: { type: ['integer', 'null'], ...counted } }));
/** A number; `NaN` stands for an invalid one. */
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

export const name = (options: object = sentName) =>
  Type.Unsafe<Name | null | undefined>({ type: ['string', 'number'], ...options });
export const optionalName = (options: object = sentName) => nullable<Name>(['string', 'number'], options);

/** The name of an entry as a text. A missing name is empty, and left out like any invalid name. */
export function nameOf(sent: Name | null | undefined): string {
  return sent == null ? '' : String(sent);
}

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
    description: 'Name of the reporting process. An empty name counts as missing.',
    ...sentName,
  }),
  processStartTime: text({ description: 'Start time of that process.', ...sentTime }),
};

/** The checked fields of `headFields`. @param notes receives the notes on them @throws {ApiError} of status 400 */
export function readHead(
  body: Static<Type.TObject<typeof headFields>>,
  notes: ReportNotes,
): Omit<ReportHead, 'notes'> {
  const { appKey, environment, instanceName, processStartTime } = body;
  const time = readTime(body.time, notes, ['time']);
  if (time === undefined) throw new ApiError('invalid_time', 'time must be like 2026-01-31T12:00:00Z');
  const head = {
    appKey,
    environment: String(environment),
    time,
    instanceName: instanceName == null ? undefined : String(instanceName),
    processStartTime: readTime(processStartTime, notes, ['processStartTime']),
  };
  return checkHead(head, notes);
}

interface SentReport<T extends Type.TSchema> {
  readonly body: Static<T>;
  readonly notes: ReportNotes;
}

/**
 * The body as its schema describes it, without the values that cannot be counted (see `omitInvalid`). Numbers that a double cannot represent exactly
 * become strings for names and hashes. That happens after the check, because the schema expects numbers.
 * @param checkSent refuses a body that lacks something else
 * @throws {ApiError} of status 400 if the body is not JSON, lacks a required field, or has a value of a wrong type
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
  const exact = /\d{16}/.test(json) ? JSON.parse(quoteLargeNumbers(json)) : body;
  const omitted = isRight ? undefined : omitInvalid(schema, body as object, exact);
  checkSent(body as Fields);
  const notes: ReportNotes = new Map();
  if (omitted !== undefined) notes.set('value_dropped', omitted);
  return { body: exact as Static<T>, notes };
}

function checkRequired(schema: Type.TObject, checker: Validator, body: unknown): void {
  const required = requiredPart(schema, body);
  if (!checker.Check(required)) throw shapeError(checker.Errors(required), { rows, placeOf });
}

export type Fields = Readonly<Record<string, unknown>>;

/** Unix ms of a time as sent. An invalid time is left out. @param notes receives the note on it @param path of the time */
export function readTime(
  sent: string | null | undefined,
  notes: ReportNotes,
  path: Path,
): number | undefined {
  if (sent == null) return undefined;
  const time = parseSentTime(sent);
  if (time === undefined) addNote(notes, 'value_dropped', ...path);
  else if (!time.hasZone) addNote(notes, 'time_zone_missing', ...path);
  return time?.at;
}

const rows: FaultRows = [[/\/time$/, 'invalid_time']];
