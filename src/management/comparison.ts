import Type from 'typebox';
import { intendedThroughout } from '../accounts/feature-settings.ts';
import { Comparison } from '../contract/shapes/comparison.ts';
import { pick, text } from '../contract/shapes/fields.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { columnsIn, listColumns } from '../reports/exports/row-writer.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { range, readReportRange, splitUserDays, timeZone } from '../reports/usage/report-range.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, oneEnvironment } from './environments.ts';
import { mustBeKnown, unknownFeature } from './features.ts';
import { format, orInRows, respondWithRows } from './format.ts';

/** Default length of a comparison in days. */
const usualDays = 28;
const dayMs = 86_400_000;

const event = Type.Union([Type.Literal('used'), Type.Literal('viewed')], {
  component: 'Event',
  description: 'Event that can follow a check.',
  default: 'used',
});

const comparisonColumns = {
  ...pick(listColumns(Comparison), ['environment', 'feature', 'from', 'to', 'event', 'base']),
  ...pick(columnsIn(Comparison, 'variants'), ['variant', 'users', 'checks', 'events', 'rate']),
  rateLow: { description: 'The lower end of the interval of the rate.', example: 0.231 },
  rateHigh: { description: 'The upper end of the interval of the rate.', example: 0.269 },
  difference: { description: 'Difference to the rate of the base.', example: 0.05 },
  differenceLow: { description: 'The lower end of the interval of the difference.', example: 0.026 },
  differenceHigh: { description: 'The upper end of the interval of the difference.', example: 0.074 },
  pAdjusted: { description: 'The p-value of the difference, corrected for the number of variants.', example: 0.0006 },
  ...pick(listColumns(Comparison), ['outcome']),
};

/** `/api/v2/applications/{id}/features/{feature}/comparison`. */
export const comparison: Group = {
  tag: 'Comparison',
  description: 'The effect of a variant, with its statistical uncertainty.',
  endpoints: [
    endpoint('GET /applications/:id/features/:feature/comparison', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'compareVariants',
      counted: 'now',
      summary: 'Compare the variants of a feature',
      description: `Covers the complete UTC days that the range touches: by default ${usualDays} days, until yesterday. Variants are compared
within each day, and the checks of one person are not treated as independent. docs/semantics.md describes the method.`,
      query: {
        ...oneEnvironment.query,
        ...range,
        ...timeZone,
        event,
        base: Type.Optional(
          text(
            'The variant to compare with. The default is the base of the latest experiment; otherwise `control`, `off`, `disabled` or `false`; otherwise the first variant by name.',
          ),
        ),
        ...format,
      },
      responses: { 200: orInRows(jsonResponse(Comparison, 'The comparison.'), comparisonColumns) },
      refuses: { ...oneEnvironment.refuses, not_found: unknownFeature, backpressure: tooManyReports },
      async handle(call, services) {
        const { directory, application, query } = call;
        const { feature } = call.params;
        const environment = findEnvironment(application.environments, query.environment);
        const now = directory.clock.now();
        const from = query.from ?? (query.to ?? now) - usualDays * dayMs;
        const days = splitUserDays(readReportRange({ ...query, from, step: 'day' }, now, services.retention)).whole;
        const declaration = directory.getFeatures(application.id).get(feature);
        mustBeKnown(declaration, await services.sights.of(application, feature));
        const split = declaration ? intendedThroughout(declaration, days.from * dayMs, days.to * dayMs) : null;
        const latest = declaration?.experiments?.findLast((each) => each.environment === environment.number);
        const task = { environment, feature, days, split, planned: latest?.base };
        const { event, base } = query;
        const made = await services.reports.make(application.teamId, 'comparison', { ...task, event, base });
        return respondWithRows(call, made, comparisonColumns, comparedIn);
      },
    }),
  ],
};

/** Returns the rows of a comparison, one per variant. */
function comparedIn({ variants, ...whole }: Comparison): readonly object[] {
  const { environment, feature, from, to, event, base, outcome } = whole;
  return variants.map(({ interval, difference, ...variant }) => ({
    environment,
    feature,
    from,
    to,
    event,
    base,
    outcome,
    ...variant,
    ...lowHigh('rate', interval),
    ...lowHigh('difference', difference?.interval ?? null),
    difference: difference?.estimate ?? null,
    pAdjusted: difference?.pAdjusted ?? null,
  }));
}

function lowHigh(name: string, interval: readonly [low: number, high: number] | null) {
  return { [`${name}Low`]: interval?.[0] ?? null, [`${name}High`]: interval?.[1] ?? null };
}
