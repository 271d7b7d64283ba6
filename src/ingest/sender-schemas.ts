import type { Documented } from '../http/openapi/json-schema.ts';
import { Name, printable, Time } from '../http/schema.ts';

/** Options of the schemas of what senders write: what the document says where the checkers ask less, or more. */

/** A name; one that is not valid is left out of the report. */
export const sentName = {
  documented: {
    component: 'SentName',
    description:
      'A name as a text, or as the number that it looks like: `42` is the name `"42"`. What is not 1 to 256 bytes of UTF-8, ' +
      'well-formed and without control characters, is left out, and the rest is counted.',
    type: ['string', 'number'],
    examples: ['checkout'],
  },
} satisfies Documented;

/** The name of an environment. */
export const environmentNamed = { documented: { anyOf: [Name.documented, { type: 'number' }] } };

/** A time. PHP writes its offset without a colon, Python may leave the offset out. */
export const sentTime = {
  documented: {
    component: 'SentTime',
    description:
      'A time in the form of RFC 3339. The offset may lack its colon, the time its seconds. A time without an offset is read as UTC.',
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

/** The identity of a user: characters are counted, not bytes. */
export const personal = { documented: { minLength: 1, maxLength: 256, pattern: `^${printable}+$` } };

/** The hash of a user. */
export const hashed = {
  documented: {
    component: 'Hash',
    description:
      'A hash that stands for a user: an integer of at most 256 digits, as a number or as a string.',
    type: ['integer', 'string'],
    pattern: '^-?[0-9]{1,256}$',
    examples: [-5023478, '18446744073709551616'],
  },
} satisfies Documented;
