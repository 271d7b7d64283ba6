import { Health } from '../../contract/shapes/health.ts';
import { ok } from '../../http/answer.ts';
import { type Group, jsonAnswer } from '../../http/endpoint.ts';
import type { ManageDeps } from '../caller.ts';
import { endpoint } from '../endpoint.ts';
import { anyEnvironment, findEnvironment } from '../environments.ts';
import { tooManyReports } from '../report-pool.ts';
import { accountFindings, healthOf, noFlags } from './items.ts';
import type { Computed, SharedFindings } from './shared-findings.ts';

export interface HealthDeps extends ManageDeps {
  readonly findings: SharedFindings;
}

/** The findings of an application whose data was not examined yet. */
export const incomplete: Computed = {
  data: { environments: [], all: noFlags, refused: [] },
  completeThrough: undefined,
};

/** `/api/v2/applications/{id}/health`. */
export const health: Group<HealthDeps> = {
  tag: 'Health',
  description: 'What needs attention.',
  endpoints: [
    endpoint('GET /applications/:id/health', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'readHealth',
      summary: 'Read what needs attention in an application',
      description:
        'The rules are those of the alerts and webhook events for the same facts: see `docs/alerts.md`. It is computed at most every ten seconds for all callers.',
      query: anyEnvironment.query,
      answers: { 200: jsonAnswer(Health, 'The findings, the most urgent first.') },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      async handle(
        { directory, application, caller, query: { environment: only } },
        { findings }: HealthDeps,
      ) {
        if (only !== undefined) findEnvironment(application.environments, only);
        const accounts = accountFindings(directory, application, caller);
        const computed = await findings.of(application);
        return ok(healthOf({ application, only, now: directory.clock.now(), ...accounts, ...computed }));
      },
    }),
  ],
};
