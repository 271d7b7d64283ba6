/**
 * The notes about what was accepted but not counted exactly as sent. Each has a stable code. `docs/errors.md` has the same
 * table.
 */
export const ledgerNotes = {
  instance_dropped: 'The instance id of a packet is unknown or expired, and was left out',
  series_folded: 'Names over a limit were counted as `__other__`',
  name_dropped: 'Entries whose names are empty, too long or not allowed were left out',
  value_missing: 'Metrics of a report without a value were left out',
  value_dropped: 'Values that cannot be counted were left out',
  time_moved:
    'What was reported for a time in the future, or before all that is kept, was counted at another time',
  time_zone_missing: 'Times of a report without a zone were read as UTC',
  field_unknown: 'A packet has an unknown field, which was ignored',
  possible_repeat:
    'A message resembles one of the last ten minutes; it was counted, because it may be another',
  repeated: 'The same message came again, and was not counted again',
} as const;

export type LedgerNote = keyof typeof ledgerNotes;
