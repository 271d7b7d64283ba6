import type { Options, Sender } from '../../../src/ingest/snippet/declarations.d.ts';
import type { Evaluations } from './evaluations.d.ts';

export type { Evaluations, Sender };

export interface WebOptions extends Omit<Options, 'url'> {
  /** URL of the metrics host (default: the origin of the page). */
  readonly url?: string;
}

/** Counts the evaluations of a page. One sender per page suffices. */
export declare function flagmeter(options: WebOptions): Sender & Evaluations;
