import { useMemo } from 'preact/hooks';
import type { ActivityKind } from '../../../contract/activity.ts';
import type { ActivityItem } from '../../../contract/shapes/activity.ts';
import { itemAddress } from '../../address/activity-links.ts';
import type { InEnvironment } from '../../address/place.ts';
import type { Bounds } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { createMarkers } from './markers.tsx';
import type { Marker } from './series.ts';

/** Kinds of events that are marked in charts of an environment. Changes of flags are too frequent for such charts. */
const ofEnvironment: readonly ActivityKind[] = [
  'sender_released',
  'key_leaked',
  'refused',
  'environment_silent',
  'traffic_moved',
];
const ofFeatures: readonly ActivityKind[] = ['experiment_changed', 'rollout_step', 'note'];

const most = 60;
const everyMs = 30_000;

interface Feed {
  readonly items: readonly ActivityItem[];
}

/**
 * Returns the events that a chart marks, the earliest first.
 * @param feature the flag of the chart, all of whose events are marked; `undefined` for a chart of the environment
 */
export function useMarkers(
  { application, environment }: InEnvironment,
  feature: string | undefined,
  { from, to }: Bounds,
): readonly Marker[] {
  const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: most };
  const path = (query: object) =>
    withQuery(resource('applications', application, 'activity'), { environment, ...span, ...query });
  const pause = to > now.peek() ? everyMs : undefined;
  const kind = feature === undefined ? [...ofEnvironment, ...ofFeatures] : ofEnvironment;
  const own = usePoll<Feed>(feature === undefined ? undefined : path({ feature }), pause).data;
  const others = usePoll<Feed>(path({ kind }), pause).data;
  return useMemo(() => {
    const items = [...(own?.items ?? []), ...(others?.items ?? [])];
    return createMarkers(items, feature, most, (item) => itemAddress({ application, environment }, item));
  }, [application, environment, feature, own, others]);
}
