import { onTestFinished } from 'vitest';
import { Connection, type ConnectionOptions } from '../../../src/replication/postgres/connection.ts';
import { parsePostgresUrl } from '../../../src/replication/postgres/postgres-url.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createLog } from '../../../src/runtime/log.ts';

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export function keptLog() {
  const lines: LogLine[] = [];
  const log = createLog('info', (line) => lines.push(JSON.parse(line)), systemClock);
  return { log, lines };
}

/** Opens a connection that is closed after the test. */
export function connect(url: string, options: Partial<ConnectionOptions> = {}): Connection {
  const { log } = keptLog();
  const all = { name: 'test', log, clock: systemClock, deadlineMs: 10_000, ...options };
  const connection = new Connection(parsePostgresUrl(url), all);
  onTestFinished(() => connection.close());
  return connection;
}
