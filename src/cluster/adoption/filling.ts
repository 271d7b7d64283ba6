import type { Place } from '../../engine/history.ts';
import type { Applied } from '../entry.ts';
import type { Holding } from './holding.ts';

/** What an empty engine is filled with, beside the parts of the snapshot and the records of the accounts. */
export interface Filling extends Pick<Holding, 'engine' | 'streams' | 'nodes'> {
  /** The id that the engine has until all of it is there: nodes refuse an engine with another id than theirs. */
  readonly idMeanwhile: string;
  /** The id of the snapshot that holds the usage. */
  readonly snapshot: string;
  /** The entry of the log that the snapshot stands at. */
  readonly applied: Applied;
  /** The change that the accounts stand at. */
  readonly place: Place;
}
