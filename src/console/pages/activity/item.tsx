import { type ActivityGroup, activityKinds } from '../../../contract/activity.ts';
import type { ActivityItem } from '../../../contract/shapes/activity.ts';
import { itemAddress } from '../../activity-links.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import type { InEnvironment } from '../../place.ts';
import type { Run } from './days.ts';

interface ItemProps {
  readonly item: ActivityItem;
  readonly place: InEnvironment;
}

/** An item, or several of one kind folded into one. */
export function RunOf({ run, place }: { readonly run: Run; readonly place: InEnvironment }) {
  const [item] = run;
  if (run.length === 1) return <Item item={item} place={place} />;
  const { group, label } = activityKinds[item.kind];
  return (
    <li class="activity-item">
      <When at={item.at} />
      <Icon group={group} />
      <details>
        <summary>
          {label}: {format.full(run.length)} {nounOf(item)}
          <Author by={item.by} />
        </summary>
        <ol class="plain-list activity-list">
          {run.map((each) => (
            <Item key={each.id} item={each} place={place} />
          ))}
        </ol>
      </details>
    </li>
  );
}

function nounOf({ feature, kind }: ActivityItem): string {
  if (kind === 'new_variant') return 'variants';
  return feature === null ? 'times' : 'flags';
}

function Item({ item, place }: ItemProps) {
  const { at, kind, feature, environment, text, by, until } = item;
  const { group, label } = activityKinds[kind];
  const href = itemAddress(place, item);
  return (
    <li class={`activity-item activity-${kind}`}>
      <When at={at} />
      <Icon group={group} label={label} />
      <span class="activity-text">
        {feature === null ? (
          <a href={href}>{text}</a>
        ) : (
          <>
            <a href={href}>{feature}</a> {text}
          </>
        )}
        {until !== null && <span class="quiet"> until {format.time(until)}</span>}
        <Author by={by} />
        {environment === null && <span class="quiet"> · all environments</span>}
      </span>
    </li>
  );
}

/** The time of day, and the time since. */
function When({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={format.time(at)} class="activity-when">
      {format.clock(at)} <span class="quiet">{format.relative(at, now.value)}</span>
    </time>
  );
}

const unnamed = {
  user: 'a former member',
  'api-key': 'an API key',
  system: 'the service',
  anonymous: 'an unauthenticated user',
};

function Author({ by }: Pick<ActivityItem, 'by'>) {
  if (by === null) return null;
  return <span class="quiet"> · {by.name || unnamed[by.type]}</span>;
}

const icons: Readonly<Record<ActivityGroup, string>> = {
  changes: 'M3 13l1-3.5L11 2.5l2.5 2.5-7 7z',
  flags: 'M4 14V2.5h8L10 5.5l2 3H4',
  senders: 'M2.5 5L8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5L8 7.5 13.5 5M8 7.5v6',
  ingest: 'M8 2v8M4.5 6.5L8 10l3.5-3.5M2.5 13.5h11',
};

function Icon({ group, label }: { readonly group: ActivityGroup; readonly label?: string }) {
  return (
    <span class={`activity-icon activity-of-${group}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={icons[group]} />
      </svg>
      {label !== undefined && <span class="activity-kind">{label}</span>}
    </span>
  );
}
