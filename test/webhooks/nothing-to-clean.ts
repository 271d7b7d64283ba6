import type { FoundForCleanup } from '../../src/webhooks/findings.ts';

/** An application without flags that can be removed. */
export const nothingToClean: FoundForCleanup = {
  removable: [],
  total: 0,
  keptTotal: 0,
  counts: { flags: 3, undeclared: 1, archivedButAsked: 0 },
};
