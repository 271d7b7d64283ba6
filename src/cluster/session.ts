import type { Connection } from '../postgres/connection.ts';

/** What the cluster asks of a connection to the engine. */
export type EngineSession = Pick<Connection, 'query' | 'transaction'>;
