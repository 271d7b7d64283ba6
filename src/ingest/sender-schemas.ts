import { printable, schemaNamed } from '../http/openapi/named-schemas.ts';

/** Schemas that only what senders say needs: see `namedSchemas`. */
export const senderSchemas = {
  Hash: {
    description:
      'A hash that stands for a user: an integer of at most 256 digits, as a number or as a string.',
    type: ['integer', 'string'],
    pattern: '^-?[0-9]{1,256}$',
    examples: [-5023478, '18446744073709551616'],
  },
  SentName: {
    description:
      'A name as a text, or as the number that it looks like: `42` is the name `"42"`. What is not 1 to 256 bytes of UTF-8, ' +
      'well-formed and without control characters, is left out, and the rest is counted.',
    type: ['string', 'number'],
    examples: ['checkout'],
  },
  SentTime: {
    description: 'A time in the form of RFC 3339; the offset may also be written without its colon.',
    anyOf: [
      schemaNamed('Time'),
      { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?[+-]\\d{4}$' },
    ],
  },
} as const;

/** Options of a TypeBox schema whose values are names; one that is not valid is left out of the report. */
export const sentName = { documented: schemaNamed('SentName') };
/** Options of a TypeBox schema whose values are names of environments. */
export const environmentNamed = { documented: { anyOf: [schemaNamed('Name'), { type: 'number' }] } };
/** Options of a TypeBox schema whose values are times as PHP writes them too. */
export const sentTime = { documented: schemaNamed('SentTime') };
/** Options of a TypeBox schema whose values are identities of users: characters are counted, not bytes. */
export const personal = { documented: { minLength: 1, maxLength: 256, pattern: `^${printable}+$` } };
/** Options of a TypeBox schema whose values are hashes of users. */
export const hashed = { documented: schemaNamed('Hash') };
