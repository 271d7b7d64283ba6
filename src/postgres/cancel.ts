import { connect } from 'node:net';
import type { EngineHost } from './engine-url.ts';

/** A server that is stopped never takes the request. */
const giveUpAfterMs = 2000;
const cancelRequest = 80_877_102;

/**
 * Asks the server to cancel what a session does, by a connection of its own, as the protocol has it. Without this a session
 * that is given up goes on: one that waits for its standby stays, and holds its locks. There is no answer.
 */
export function cancel({ host, port }: EngineHost, processId: number, secret: number): void {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelRequest, 4);
  message.writeInt32BE(processId, 8);
  message.writeInt32BE(secret, 12);
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.on('error', () => socket.destroy());
  socket.setTimeout(giveUpAfterMs, () => socket.destroy());
  socket.on('connect', () => socket.end(message));
  socket.unref();
}
