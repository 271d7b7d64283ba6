import { constants } from 'node:os';

const outOfSpace = ['ENOSPC', 'EDQUOT', 'EFBIG'] as const;
const codes = new Set<unknown>([...outOfSpace, ...outOfSpace.map((code) => constants.errno[code])]);

/** Whether a file system is full: Node's errors say so by name, LMDB's by number. */
export function isOutOfSpace(error: unknown): boolean {
  return codes.has((error as { code?: unknown }).code);
}
