import type { Sender } from '../../../src/ingest/snippet/declarations.d.ts';
import type { Evaluations } from './evaluations.d.ts';

export type { Evaluations, Sender };

export interface ServerOptions {
  /** URL of the metrics host. */
  readonly url: string;
  /** The application's Backend key, which is secret. */
  readonly key: string;
  /** Name of the environment, for example `Production`. */
  readonly environment: string;
  /** Name of your program. Reports list it as the sender (default `flagmeter-openfeature`). */
  readonly service?: string;
  /** Version of your program. */
  readonly version?: string;
  /** Name of this process (default: the name of the host). */
  readonly instanceName?: string;
  /** True to count the users of each flag, by hashes of their targeting keys (default true). */
  readonly countUsers?: boolean;
  /** Seconds between reports (default 10). */
  readonly seconds?: number;
}

/**
 * Counts the evaluations of a server. One sender per process suffices. Counts are sent at intervals, and when nothing
 * else keeps the process running. Before `process.exit`, or when a signal stops the process, await `flush`.
 * @throws {TypeError} if `url` is not an HTTP URL, or `key` or `environment` is missing
 */
export declare function flagmeter(options: ServerOptions): Sender & Evaluations;
