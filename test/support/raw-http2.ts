import { once } from 'node:events';
import { connect } from 'node:tls';

/** A header that is sent without being checked. */
export type RawHeader = readonly [name: string, value: string];

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const data = 0x0;
const headers = 0x1;
const settings = 0x4;
const endStream = 0x1;
const endHeaders = 0x4;

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes a length for HPACK with a prefix of seven bits (RFC 7541 §5.1). */
function encodeLength(text: Buffer): Buffer {
  if (text.length < 127) return Buffer.from([text.length]);
  const bytes = [127];
  let rest = text.length - 127;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Encodes headers as literals without indexing, with exactly the given bytes. */
function block(fields: readonly RawHeader[]): Buffer {
  const parts = fields.flatMap((field) => [
    Buffer.from([0]),
    ...field.flatMap((text) => {
      const bytes = Buffer.from(text, 'latin1');
      return [encodeLength(bytes), bytes];
    }),
  ]);
  return Buffer.concat(parts);
}

/** Encodes a connection with one request. @param bodies payloads of DATA frames; the last frame ends the stream */
export function rawHttp2(fields: readonly RawHeader[], bodies: readonly string[] = []): Buffer {
  const ends = (at: number) => (at === bodies.length - 1 ? endStream : 0);
  return Buffer.concat([
    preface,
    frame(settings, 0, 0),
    frame(headers, endHeaders | (bodies.length === 0 ? endStream : 0), 1, block(fields)),
    ...bodies.map((body, at) => frame(data, ends(at), 1, Buffer.from(body, 'latin1'))),
  ]);
}

/**
 * Sends bytes over TLS with HTTP/2. Waits until the server ends the stream or the connection, or until the time limit.
 */
export async function sendRawHttp2(port: number, bytes: Buffer, waitMs: number): Promise<() => void> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  let received: Buffer = Buffer.alloc(0);
  const over = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (isOver(received)) resolve();
    });
    socket.once('close', () => resolve()).once('error', () => resolve());
  });
  socket.write(bytes);
  await Promise.race([over, new Promise((resolve) => setTimeout(resolve, waitMs))]);
  return () => socket.destroy();
}

/** True if a frame ends the first stream or the connection: RST_STREAM, GOAWAY, or the last HEADERS or DATA. */
function isOver(received: Buffer): boolean {
  for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
    const type = received[at + 3]!;
    const flags = received[at + 4]!;
    if (type === 0x3 || type === 0x7) return true;
    if ((type === data || type === headers) && (flags & endStream) !== 0) return true;
  }
  return false;
}
