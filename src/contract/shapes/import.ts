import Type, { type Static } from 'typebox';
import { bodyShape, boolean, count, name, shape } from './fields.ts';

/** Maximum number of counts in one part of an import. */
export const maxPartCounts = 4096;

/** Maximum length of a part as JSON, in bytes. */
export const maxPartBytes = 512 * 1024;

const total = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const ImportPart = bodyShape(
  'ImportPart',
  {
    environment: name('Name of the environment.'),
    import: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'Identifier of the file: the SHA-256 of its content, in hexadecimal digits.',
    }),
    part: Type.Integer({
      minimum: 0,
      maximum: 2 ** 31 - 1,
      description:
        'Number of the part in the file, from 0. A repeated request for the same number must have the same content.',
    }),
    dryRun: Type.Optional(boolean('True if the part is checked only, and not counted.')),
    variants: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
      maxItems: maxPartCounts,
      description: 'The feature and the name of each variant.',
    }),
    counts: Type.Array(Type.Array(total, { minItems: 5, maxItems: 5 }), {
      maxItems: maxPartCounts,
      description: '`[time, variant, checks, used, viewed]`: Unix seconds, and the index of the variant.',
    }),
    metrics: Type.Optional(
      Type.Array(Type.Array(Type.String(), { minItems: 1, maxItems: 3 }), {
        maxItems: maxPartCounts,
        description: 'Name of each metric; for a metric of a feature, also the feature and the variant.',
      }),
    ),
    measurements: Type.Optional(
      Type.Array(Type.Array(Type.Number(), { minItems: 8, maxItems: 8 }), {
        maxItems: maxPartCounts,
        description:
          '`[time, metric, sum, count, last, lastAt, min, max]`: Unix seconds, the index of the metric, and a summary of its values. `lastAt` is in Unix milliseconds.',
      }),
    ),
  },
  {
    environment: 'Production',
    import: '0'.repeat(64),
    part: 0,
    variants: [
      ['checkout', 'on'],
      ['checkout', 'off'],
    ],
    counts: [
      [1_767_225_600, 0, 5, 3, 2],
      [1_767_225_600, 1, 7, 0, 0],
    ],
  },
);
export type ImportPart = Static<typeof ImportPart>;

export const ImportedPart = shape(
  'ImportedPart',
  {
    counted: boolean('True if this request counted the part. False if an earlier request had counted the part.'),
    outside: count(
      'Number of counts and measurements that were omitted because they are older than the retention of days, or in the future.',
    ),
    folded: count('Number of variants that were counted as `__other__` because they exceed a limit.'),
    dropped: count('Number of counts that were omitted because the name of their feature or variant is invalid.'),
  },
  { counted: true, outside: 0, folded: 0, dropped: 0 },
);
export type ImportedPart = Static<typeof ImportedPart>;
