import type { Write } from './engine.ts';

/** A change of the accounts as all nodes share it. */
export interface AccountChange {
  readonly version: number;
  /** Random, a decimal number: two histories of an engine may have the same version, and never the same id. */
  readonly id: string;
  readonly writes: readonly Write[];
}

/** Where a history of changes ends. */
export type Place = Pick<AccountChange, 'version' | 'id'>;
