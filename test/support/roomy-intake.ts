import type { IntakeLimits } from '../../src/commit/intake.ts';

/** Limits of an intake that no test reaches; how many packets a batch takes is the test's. */
export const roomyLimits: Omit<IntakeLimits, 'batchPackets'> = {
  queueHighPackets: 1e6,
  queueLowPackets: 1,
  queueHighBytes: 1e9,
  queueLowBytes: 1,
  queueHighAge: 1e9,
  queueLowAge: 1,
};
