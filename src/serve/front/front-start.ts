import type { MessagePort } from 'node:worker_threads';
import type { ListenOptions } from '../../http/types.ts';
import type { PublicationEnd } from '../../runtime/publication.ts';
import type { Config } from '../config/config.ts';

/** The listener of this thread, on the address of one of the main thread. */
type JoinedListener = Pick<ListenOptions, 'host' | 'port' | 'tls' | 'joins' | 'headers' | 'busyPaths'>;

/** Data with which a front-end thread is started. */
export interface FrontStart {
  /** From 1. */
  readonly number: number;
  /** See `SharedQueues`. */
  readonly queues: SharedArrayBuffer;
  /** One number: how far the clock of the service is ahead of the machine's, ms. */
  readonly ahead: Float64Array;
  readonly config: Config;
  readonly fromMain: PublicationEnd;
  readonly toMain: PublicationEnd;
  /** For requests that the main thread answers. */
  readonly relay: MessagePort;
  /** Memory of the histogram of this thread's event loop delays. */
  readonly delays: ArrayBufferLike;
  readonly listener: JoinedListener;
}

/** The options of the listener that joins one of the main thread. */
export function joinedListener({ host, port, tls, headers, busyPaths }: ListenOptions): JoinedListener {
  return {
    host,
    port,
    joins: true,
    ...(tls && { tls }),
    ...(headers && { headers }),
    ...(busyPaths && { busyPaths }),
  };
}
