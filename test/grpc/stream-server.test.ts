import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import type { Request } from '../../src/http/types.ts';
import { openGrpc } from '../support/open-grpc.ts';
import { grpcFrame, openRawGrpc } from '../support/raw-grpc.ts';
import { RecordingReports } from '../support/recording-reports.ts';
import { encode, usageReport } from '../support/report-messages.ts';

const path = '/Usage.Usage/SendStats';
const message = encode('Usage.FeatureStat', usageReport);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test.each([
  ['of an unknown method', '/Usage.Usage/Nothing', {}, { ':status': 200, 'grpc-status': '12' }],
  ['with another content type', path, { 'content-type': 'text/plain' }, { ':status': 418, for: `POST ${path}` }],
  ['over gRPC-Web', path, { 'content-type': 'application/grpc-web+proto' }, { ':status': 418 }],
  ['that is not a POST', path, { ':method': 'PUT' }, { ':status': 418, for: `PUT ${path}` }],
])(
  'a request %s gets its response, and its stream is closed, before the client ends the request',
  async (_, called, headers, responseHeaders) => {
    const receiver = new RecordingReports();
    const onError = (error: unknown) => expect.unreachable(`${error}`);
    const dispatch = ({ method, path }: Request) => ({ status: 418, headers: { for: `${method} ${path}` } });
    const listener = await openGrpc({ onError, dispatch });
    closers.push(() => listener.close(0));
    listener.begin({ reportKinds: receiver } as never);
    const raw = openRawGrpc(`127.0.0.1:${listener.port}`);
    closers.push(() => raw.close());
    const stream = raw.begin(called, headers);
    const closed = once(stream, 'close');
    stream.write(grpcFrame(message));
    expect((await once(stream, 'response'))[0]).toMatchObject(responseHeaders);
    await closed;
    expect(receiver.reports).toEqual([]);
  },
);
