import type { SpoolStore } from '../../store/spool.ts';
import { transact } from '../../store/transact.ts';

/**
 * How the move of a directory into an engine is known, there and here, so that it can go on after it was interrupted. All ids are
 * chosen before the engine hears of it.
 */
export interface Adoption {
  /** The id of the engine. */
  readonly engine: string;
  /** The id of the snapshot that holds the usage. */
  readonly snapshot: string;
  /** The id of the entry of the log that the snapshot stands at. */
  readonly entry: string;
  /** The id of the change that brings the accounts. */
  readonly change: string;
}

const key = 'adoption';

/** The move that was begun with this directory and is not finished, if there is one. */
export function readAdoption({ meta }: Pick<SpoolStore, 'meta'>): Adoption | undefined {
  const text = meta.get(key);
  return text === undefined ? undefined : (JSON.parse(text) as Adoption);
}

/** Remembers that a move is begun. */
export function keepAdoption({ lmdb, meta }: Pick<SpoolStore, 'lmdb' | 'meta'>, adoption: Adoption): void {
  transact(lmdb, () => void meta.putSync(key, JSON.stringify(adoption)));
}

/** Makes the directory one of a node of the engine: the move is over. */
export function endAdoption({ lmdb, meta }: Pick<SpoolStore, 'lmdb' | 'meta'>, engine: string): void {
  transact(lmdb, () => {
    meta.putSync('engine', engine);
    meta.removeSync(key);
  });
}
