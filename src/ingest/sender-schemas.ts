import { type Documented, Name, printable, Time } from '../contract/shapes/fields.ts';

/** Schema options of values from senders, where the documentation and the checks differ. */

/** A name. An invalid one is left out of the report. */
export const sentName = {
  documented: {
    component: 'SentName',
    description:
      'A name as a string, or as a number: `42` is the name `"42"`. A name is 1 to 256 bytes of well-formed UTF-8 without ' +
      'control characters. Any other value is left out, and the rest is counted.',
    type: ['string', 'number'],
    examples: ['checkout'],
  },
} satisfies Documented;

/** The name of an environment. */
export const environmentNamed = { documented: { anyOf: [Name.documented, { type: 'number' }] } };

/** A time. PHP writes the offset without a colon; Python may omit it. */
export const sentTime = {
  documented: {
    component: 'SentTime',
    description:
      'An RFC 3339 time. The colon of the offset and the seconds are optional. A time without an offset is UTC.',
    anyOf: [
      Time.documented,
      {
        type: 'string',
        pattern:
          '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?([+-]\\d{4})?|[Zz]|[+-]\\d\\d:?\\d\\d)?$',
      },
    ],
  },
} satisfies Documented;

/** The identity of a user. Its length is in characters, not in bytes. */
export const personal = { documented: { minLength: 1, maxLength: 256, pattern: `^${printable}+$` } };

/** The hash of a user. */
export const hashed = {
  documented: {
    component: 'Hash',
    description: 'Hash of a user: an integer of at most 256 digits, as a number or a string.',
    type: ['integer', 'string'],
    pattern: '^-?[0-9]{1,256}$',
    examples: [-5023478, '18446744073709551616'],
  },
} satisfies Documented;
