import type { FoundForDigest } from '../../src/webhooks/findings.ts';

const none = { count: 0, names: [] };

/** An application without flags that can be removed. */
export const nothingFound: FoundForDigest = {
  flags: 3,
  found: {
    archived_but_asked: none,
    flags_can_go: none,
    split_mismatch: none,
    undeclared: { count: 1, names: ['chekout'] },
  },
  removable: [],
  keptTotal: 0,
  experiments: [],
};
