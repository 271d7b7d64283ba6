import type { ActivityItem } from '../../contract/shapes/activity.ts';
import { format } from '../text/format.ts';

interface ActivityTextProps {
  readonly item: ActivityItem;
  /** Address of the object that the item concerns; absent on the page of that object. */
  readonly href?: string;
}

/** The text of a change, followed by its end time, its author and its environments. */
export function ActivityText({ item: { feature, text, until, by, environment }, href }: ActivityTextProps) {
  return (
    <>
      {href === undefined ? (
        text
      ) : feature === null ? (
        <a href={href}>{text}</a>
      ) : (
        <>
          <a href={href}>{feature}</a> {text}
        </>
      )}
      {until !== null && <span class="quiet"> until {format.time(until)}</span>}
      <Author by={by} />
      {environment === null && <span class="quiet"> · all environments</span>}
    </>
  );
}

const unnamed = {
  user: 'a former member',
  'api-key': 'an API key',
  system: 'the service',
  anonymous: 'an unauthenticated user',
};

export function Author({ by }: Pick<ActivityItem, 'by'>) {
  if (by === null) return null;
  return <span class="quiet"> · {by.name || unnamed[by.type]}</span>;
}
