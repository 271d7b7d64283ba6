/**
 * The notes about what was accepted but not counted exactly as sent. Each has a stable code. `docs/errors.md` has the same
 * table.
 */
export const ledgerNotes = {
  instance_dropped: 'The instance id of a packet is unknown or expired, and was left out',
  series_folded: 'Names over a limit were counted as `__other__`',
  name_dropped: 'Entries whose names are empty, too long or not allowed were left out',
  value_missing: 'Metrics of a report without a value were left out',
  field_unknown: 'A packet has an unknown field, which was ignored',
  repeated: 'The same message came again, and was not counted again',
} as const;

export type LedgerNote = keyof typeof ledgerNotes;
