import { type ActivityKind, activityKinds } from '../../contract/activity.ts';
import type { ActivityItem } from '../../contract/shapes/activity.ts';
import { withQuery } from '../api/client.ts';
import { applicationSettingsAddress, environmentAddress, featureAddress } from './address.ts';
import type { InEnvironment } from './place.ts';

const ofSettings: readonly ActivityKind[] = ['key_changed', 'key_leaked', 'environment_changed', 'application_changed'];

/** Returns the address of the flag, key, metric or sender of an activity item, in the page's environment. */
export function itemAddress({ application, environment }: InEnvironment, item: ActivityItem): string {
  const { kind, feature, at } = item;
  const there = item.environment ?? environment;
  if (feature !== null) return featureAddress({ application, environment: there, name: feature }, {});
  if (ofSettings.includes(kind)) return applicationSettingsAddress(application);
  if (kind === 'metric_changed') return environmentAddress(application, there, 'metrics');
  if (activityKinds[kind].group === 'changes') return environmentAddress(application, there, 'activity');
  const [from, to] = [-dayMs, dayMs].map((ms) => new Date(Date.parse(at) + ms).toISOString());
  return withQuery(environmentAddress(application, there, 'ingest'), { from, to });
}

const dayMs = 86_400_000;
