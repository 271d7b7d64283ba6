import type { MessageData } from '../../src/contract/events/event-messages.ts';
import { refusals } from '../../src/contract/refusals.ts';

/** Events for the tests of the docs and of the formats. */

export const at = '2026-01-31T12:00:00.000Z';
const application = { id: 'app_…', name: 'Shop' };
const owners = [{ type: 'user', id: 'user_…', name: 'Ada Lovelace' }] as const;

/** The data of each event, as docs/webhooks.md shows it. */
export const examples: MessageData = {
  'flag.first_seen': { application, environment: 'Production', feature: 'checkout', firstSeenAt: at, owners },
  'flag.stale': {
    application,
    feature: 'checkout',
    lastSeenAt: '2026-01-01T12:00:00.000Z',
    staleSince: at,
    basis: 'silence',
    owners,
  },
  'flag.verdict_changed': {
    application,
    feature: 'checkout',
    previous: 'in_use',
    verdict: 'safe_to_remove',
    basis: 'senders',
    since: '2026-01-01T12:00:00.000Z',
    environments: ['Production'],
    reasons: [
      {
        code: 'senders_report',
        text: 'web 2.3 used to check it, and still reports.',
        at: null,
        names: ['web 2.3'],
      },
    ],
    owners,
  },
  'digest.weekly': {
    week: { from: '2026-01-19T08:00:00.000Z', to: '2026-01-26T08:00:00.000Z' },
    applications: [
      {
        application,
        counts: { flags: 120, canGo: 1, cannotGoYet: 3, undeclared: 2, archivedButAsked: 0 },
        canGo: [
          {
            feature: 'old-banner',
            verdict: 'safe_to_remove',
            since: '2026-01-01T12:00:00.000Z',
            variant: null,
            owners,
          },
        ],
      },
    ],
    applicationsLeftOut: 0,
  },
  'key.leaked': {
    application,
    key: { id: 'key_…', name: 'Server', prefix: 'fm_be_012345' },
    leakedAt: at,
  },
  'api-key.expiring': { apiKey: { id: 'client_…', name: 'Dashboard' }, expiresAt: at, daysLeft: 14 },
  'ingest.refusing': {
    application,
    environment: 'Production',
    code: 'origin_not_allowed',
    status: refusals.origin_not_allowed.status,
    title: refusals.origin_not_allowed.title,
    count: 120,
    lastRefusedAt: at,
  },
  'experiment.finished': {
    application,
    environment: 'Production',
    feature: 'checkout',
    experiment: { id: '1', name: 'One page' },
    outcome: 'better',
    verdict: 'Better with on: used per check is 4.0 percentage points higher than with off (3.1 to 4.9).',
    finishedAt: at,
  },
  'member.changed': {
    change: 'added',
    user: { id: 'user_…', email: 'ada@example.com', name: 'Ada', role: 'User' },
    by: { type: 'user', name: 'bob@example.com' },
  },
  'webhook.test': { webhook: { id: 'webhook_…', name: 'Chat' } },
};

export function dataWith(name: string): MessageData {
  const application = { id: 'app_1', name };
  const owners = Array.from({ length: 8 }, () => ({ type: 'text' as const, id: null, name }));
  const canGo = { feature: name, verdict: 'one_variant' as const, since: at, variant: name, owners };
  return {
    'flag.first_seen': { application, environment: name, feature: name, firstSeenAt: at, owners },
    'flag.stale': { application, feature: name, lastSeenAt: at, staleSince: at, basis: 'silence', owners },
    'flag.verdict_changed': {
      application,
      feature: name,
      previous: 'in_use',
      verdict: 'safe_to_remove',
      basis: 'senders',
      since: at,
      environments: Array.from({ length: 50 }, () => name),
      reasons: Array.from({ length: 9 }, () => ({
        code: 'senders_report' as const,
        text: `${name} used to check it, and still reports.`,
        at: null,
        names: [name],
      })),
      owners,
    },
    'digest.weekly': {
      week: { from: at, to: at },
      applications: Array.from({ length: 10 }, () => ({
        application,
        counts: { flags: 120, canGo: 10, cannotGoYet: 3, undeclared: 2, archivedButAsked: 1 },
        canGo: Array.from({ length: 10 }, () => canGo),
      })),
      applicationsLeftOut: 3,
    },
    'key.leaked': { application, key: { id: 'key_1', name, prefix: 'fm_be_012345' }, leakedAt: at },
    'api-key.expiring': { apiKey: { id: 'client_1', name }, expiresAt: at, daysLeft: 14 },
    'ingest.refusing': {
      application,
      environment: name,
      code: 'origin_not_allowed',
      status: 403,
      title: 'The application does not allow this origin',
      count: 120,
      lastRefusedAt: at,
    },
    'experiment.finished': {
      application,
      environment: name,
      feature: name,
      experiment: { id: '1', name },
      outcome: 'better',
      verdict: name,
      finishedAt: at,
    },
    'member.changed': {
      change: 'added',
      user: { id: 'user_1', email: `${name}@example.com`, name, role: 'User' },
      by: { type: 'user', name },
    },
    'webhook.test': { webhook: { id: 'webhook_1', name } },
  };
}
