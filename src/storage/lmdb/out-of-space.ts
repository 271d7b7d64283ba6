import { constants } from 'node:os';

const outOfSpace = ['ENOSPC', 'EDQUOT', 'EFBIG'] as const;
const codes = new Set<unknown>([...outOfSpace, ...outOfSpace.map((code) => constants.errno[code])]);

/** Whether a file system is full, by the name in Node's errors or the number in LMDB's. */
export function isOutOfSpace(error: unknown): boolean {
  return codes.has((error as { code?: unknown }).code);
}
