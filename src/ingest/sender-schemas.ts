import Type, { type Static } from 'typebox';
import { Refusal } from '../contract/errors.ts';
import { isName } from '../contract/names.ts';
import { type DocumentOptions, Name, printable, Time } from '../contract/shapes/fields.ts';

/** Schema options of a name that a sender chooses. The schema accepts invalid names, which are left out later. */
export const sentName = {
  documented: {
    component: 'SentName',
    description:
      'A name as a string, or as a number: `42` is the name `"42"`. A name is 1 to 256 bytes of well-formed UTF-8 without ' +
      'control characters. Any other value is left out, and the rest is counted.',
    type: ['string', 'number'],
    examples: ['checkout'],
  },
} satisfies DocumentOptions;

export const environmentNamed = { documented: { anyOf: [Name.documented, { type: 'number' }] } };

/** Schema options of a time. PHP writes the offset without a colon, and Python can omit the offset. */
export const sentTime = {
  documented: {
    component: 'SentTime',
    description:
      'An RFC 3339 time. The colon of the offset and the seconds are optional. A time without an offset is UTC.',
    anyOf: [
      Time.documented,
      {
        type: 'string',
        pattern: '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?([+-]\\d{4})?|[Zz]|[+-]\\d\\d:?\\d\\d)?$',
      },
    ],
  },
} satisfies DocumentOptions;

/** Schema options of the identity of a user. The limits of the length are in characters, not in bytes. */
export const personal = { documented: { minLength: 1, maxLength: 256, pattern: `^${printable}+$` } };

export const hashed = {
  documented: {
    component: 'Hash',
    description: 'Hash of a user: an integer of at most 256 digits, as a number or a string.',
    type: ['integer', 'string'],
    pattern: '^-?[0-9]{1,256}$',
    examples: [-5023478, '18446744073709551616'],
  },
} satisfies DocumentOptions;

/**
 * Schema of a map from any name to one kind of value. The pattern is empty because TypeBox's own record pattern,
 * `^.*$`, does not match names with line separators. The values of such names would pass unchecked.
 */
export function Named<T extends Type.TSchema>(value: T, options: Type.TObjectOptions = {}) {
  return Type.Unsafe<Readonly<Record<string, Static<T>>>>({
    type: 'object',
    patternProperties: { '': value },
    ...options,
  });
}

/** @throws {Refusal} `invalid_name` unless `name` is a valid name for a `what` */
export function checkName(name: string, what: string): void {
  if (isName(name)) return;
  throw new Refusal('invalid_name', `The name of the ${what} must have 1 to 256 UTF-8 bytes and no control characters`);
}
