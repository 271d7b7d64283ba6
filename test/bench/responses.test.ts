import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { responseReader } from '../../src/bench/load/responses.ts';

const stream = Buffer.from(
  'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nDate: now\r\n\r\n' +
    'HTTP/1.1 100 Continue\r\n\r\n' +
    'HTTP/1.1 429 Too Many Requests\r\nX-Content-Length: 9\r\ncontent-length:5\r\n\r\n\r\n\r\nx' +
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1A\r\nHTTP/1.1 429 Too Many\r\n\r\n0\r\n1\r\nx\r\n0\r\n\r\n' +
    'HTTP/1.1 204 No Content\r\n\r\n' +
    'HTTP/1.1 202 Accepted\r\nCONTENT-LENGTH:  0\r\n\r\n' +
    'HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 23\r\n\r\nHTTP/1.1 202 Accepted\r\n',
);

function readStatuses(chunks: readonly Uint8Array[]): number[] {
  const statuses: number[] = [];
  const read = responseReader((status) => statuses.push(status));
  for (const chunk of chunks) read(chunk);
  return statuses;
}

describe('responseReader', () => {
  it('responseReader reads the same responses from any division of the stream into chunks', () => {
    const cuts = fc.array(fc.nat(stream.length), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (points) => {
        const edges = [0, ...points.toSorted((a, b) => a - b), stream.length];
        const chunks = edges.slice(1).map((end, index) => stream.subarray(edges[index], end));
        expect(readStatuses(chunks)).toEqual([202, 429, 200, 204, 202, 503]);
      }),
    );
  });

  it('responseReader reads a stream that arrives byte by byte', () => {
    expect(readStatuses([...stream].map((byte) => Uint8Array.of(byte)))).toEqual([202, 429, 200, 204, 202, 503]);
  });

  it('responseReader waits for the end of the body before it reports a response', () => {
    expect(readStatuses([Buffer.from('HTTP/1.1 400 Bad\r\ncontent-length: 3\r\n\r\nab')])).toEqual([]);
  });

  it.each([
    ['a text that is not HTTP', 'hello\r\n\r\n'],
    ['a status out of range', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['a body without a length', 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n'],
    ['a head that does not end', 'x'.repeat(70_000)],
  ])('responseReader throws on %s', (_, text) => {
    expect(() => readStatuses([Buffer.from(text)])).toThrow();
  });
});
