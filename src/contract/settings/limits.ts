import Type from 'typebox';
import { whole } from './kinds.ts';

/** Limits of names, and who may raise plans. */
export const limits = {
  maxFeatures: whole('Limits', 'Maximum features per environment; further ones are counted as __other__', {
    minimum: 1,
    maximum: 10_000,
    default: 2_000,
  }),
  maxVariants: whole('Limits', 'Maximum variants per feature; further ones are counted as __other__', {
    minimum: 1,
    maximum: 1_000,
    default: 64,
  }),
  maxMetrics: whole('Limits', 'Maximum metrics per environment; further ones are counted as __other__', {
    minimum: 1,
    maximum: 100_000,
    default: 1_000,
  }),
  staleAfter: whole('Limits', 'Days without a packet after which a feature is stale', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),
  plans: Type.Enum(['fixed', 'open'], {
    group: 'Limits',
    value: 'WHO',
    description: 'Whether an Admin may raise the plan of a team: fixed (no) or open (yes)',
    default: 'fixed',
    must: 'be fixed or open',
  }),
};
