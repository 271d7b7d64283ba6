import { expositionType } from '../http/exposition.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { maxShown, monthOf } from '../reports/usage/month-usage.ts';
import { readReportRange } from '../reports/usage/report-range.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironments } from './environments.ts';
import { written } from './format.ts';
import { gaugesOf } from './reports.ts';

const example = `# HELP flagmeter_feature_checks_total Checks of a variant. Reset at the start of each month (UTC).
# TYPE flagmeter_feature_checks_total counter
flagmeter_feature_checks_total{environment="Production",feature="checkout",variant="on"} 5
`;

/** `/api/v2/applications/{id}/prometheus`. */
export const prometheus: Group = {
  tag: 'Prometheus',
  description: 'Usage in the text format of Prometheus.',
  endpoints: [
    endpoint('GET /applications/:id/prometheus', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'scrapeUsage',
      counted: 'any',
      summary: 'Scrape the usage of an application',
      description: `Counters are reset at the start of each month (UTC). The answer has at most ${maxShown.features} variants and ${maxShown.metrics} metrics, the largest ones.
\`flagmeter_series_left_out\` is the number of the others.`,
      query: anyEnvironment.query,
      answers: {
        200: {
          description: 'The metrics.',
          headers: {},
          content: { [expositionType]: { schema: { type: 'string' }, example } },
        },
      },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      async handle({ directory, application, query }, { reports, retention }) {
        const { teamId } = application;
        const environments = findEnvironments(application.environments, query.environment);
        const now = directory.clock.now();
        const range = readReportRange({ from: monthOf(now), step: 'day' }, now, retention);
        const task = { environments, gauges: gaugesOf(directory, application), range };
        return written(expositionType, await reports.make(teamId, 'prometheus', task));
      },
    }),
  ],
};
