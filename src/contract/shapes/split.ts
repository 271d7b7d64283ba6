import Type, { type Static } from 'typebox';
import { boolean, oneOf, orNull, shape, text, time } from './fields.ts';

const shares = (description: string) =>
  Type.Unsafe<Readonly<Record<string, number>>>({
    type: 'object',
    additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
    description,
  });

export const FeatureSplit = shape(
  'FeatureSplit',
  {
    intended: shares(
      'Intended share of each variant, from the rollout plan or else from the declaration. Empty if no split is declared.',
    ),
    actual: orNull(
      shares(
        'Actual share of each variant, since the intended split changed, but at most over the last seven UTC days.',
      ),
    ),
    of: oneOf(['users', 'checks'], 'Unit of the actual shares: `users`, or `checks` if there are too few users.'),
    state: oneOf(
      ['ok', 'off', 'unknown'],
      '`off`: the actual split differs from the intended one, and neither chance nor the errors of counting explain it. `unknown`: there is too little data.',
    ),
    planned: boolean('True if the intended split is a step of the rollout plan.'),
    since: orNull(time('Time from which this split is intended; `null` if unknown.')),
    text: orNull(text('The largest deviation in a few words; `null` unless the split is off.')),
  },
  {
    intended: { on: 0.5, off: 0.5 },
    actual: { on: 0.34, off: 0.66 },
    of: 'users',
    state: 'off',
    planned: true,
    since: '2026-01-12T08:00:00.000Z',
    text: 'behind plan: on had 34% of the users on average since 12 Jan, instead of 50%',
  },
);
export type FeatureSplit = Static<typeof FeatureSplit>;
