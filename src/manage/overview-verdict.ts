import type { Row } from './overview-rows.ts';
import type { VerdictKind } from './verdict-shape.ts';

const week = 7 * 1440;

/** What can be said of a row from the row alone. */
export function simpleVerdict({ declaration, firstSeen, lastSeen, variants }: Row, now: number): VerdictKind {
  const minute = now / 60_000;
  if (declaration?.archived) return minute - lastSeen < week ? 'archived_but_asked' : 'not_seen';
  if (declaration?.permanent) return 'permanent';
  if ((declaration?.snoozedUntil ?? 0) > now) return 'snoozed';
  if (minute - firstSeen < week) return 'new';
  if (lastSeen === 0 || minute - lastSeen >= week) return 'not_seen';
  return variants.filter(({ checks }) => checks > 0).length === 1 ? 'one_variant' : 'in_use';
}
