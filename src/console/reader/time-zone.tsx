import { type ComponentChildren, Fragment } from 'preact';
import { isTimeZone } from '../../contract/time-zone.ts';
import { useQuery } from '../address/address.ts';
import { browserZone, formatIn } from '../text/format.ts';
import { preferences } from './preferences.ts';

/** The time zone that the reader prefers. */
export function preferredZone(): string {
  const zone = preferences.value?.timeZone;
  // The browser may lack a zone that the server knows.
  return zone && isTimeZone(zone) ? zone : browserZone;
}

/** The time zone of the page: that of its address, or the preferred one. */
export function useZone(): string {
  const { tz } = useQuery().query;
  return tz !== undefined && isTimeZone(tz) ? tz : preferredZone();
}

/** Shows its children in the time zone of the page, and renders all of them again when it changes. */
export function InTimeZone({ children }: { readonly children: ComponentChildren }) {
  const zone = useZone();
  formatIn(zone);
  return <Fragment key={zone}>{children}</Fragment>;
}
