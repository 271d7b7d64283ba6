/**
 * What the ledger notes of something that was accepted although not all of it was counted as it was sent: one stable code
 * each. `docs/errors.md` shows the same table.
 */
export const ledgerNotes = {
  instance_dropped: 'The instance id of a packet is unknown or expired, and was left out',
  series_folded: 'Names over a limit were counted as `__other__`',
  name_dropped: 'Entries whose names are empty, too long or not allowed were left out',
  value_missing: 'Metrics of a report without any value were left out',
  field_unknown: 'A packet has a field that is not known, and was passed over',
  repeated: 'The same message came again, and was not counted again',
} as const;

export type LedgerNote = keyof typeof ledgerNotes;
