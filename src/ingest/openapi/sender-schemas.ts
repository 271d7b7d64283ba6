import { printable, schemaNamed } from '../../http/openapi/named-schemas.ts';

/** Schemas that only what senders say needs: see `namedSchemas`. */
export const senderSchemas = {
  Hash: {
    description:
      'A hash that stands for a user: an integer of at most 256 digits, as a number or as a string.',
    type: ['integer', 'string'],
    pattern: '^-?[0-9]{1,256}$',
    examples: [-5023478, '18446744073709551616'],
  },
} as const;

/** Options of a TypeBox schema whose values are names, or empty. */
export const namedOrEmpty = { documented: { maxLength: 256, pattern: `^${printable}*$` } };
/** Options of a TypeBox schema whose values are identities of users: characters are counted, not bytes. */
export const personal = { documented: { minLength: 1, maxLength: 256, pattern: `^${printable}+$` } };
/** Options of a TypeBox schema whose values are hashes of users. */
export const hashed = { documented: schemaNamed('Hash') };
