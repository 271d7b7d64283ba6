import { gzipSync } from 'node:zlib';
import type { Encoding } from '../../../src/ingest/formats/otlp/decode.ts';
import type { Signal } from '../../../src/ingest/formats/otlp/request.ts';
import { usage } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { type LocalService, startLocal } from '../../support/service.ts';
import { openShop, type Shop } from '../repeated-reports.ts';
import { encodeAs } from './messages.ts';

/** Content types by encoding. */
export const types = { protobuf: 'application/x-protobuf', json: 'application/json' } as const;
export const now = Date.now();
export const on = { 'feature_flag.result.variant': 'on' };

type Run = (service: LocalService, shop: Shop) => Promise<void>;

/** Starts a service for the tests of a file. @returns a function that runs a test with a new application */
export function shareService(...args: readonly string[]): (run: Run) => Promise<void> {
  const service = opened(() => startLocal({ args }));
  return async (run) => run(service, await openShop(service));
}

interface SendOptions {
  readonly encoding?: Encoding;
  readonly headers?: Readonly<Record<string, string>>;
  readonly gzip?: true;
}

export async function send(
  { http }: Pick<LocalService, 'http'>,
  { key }: Pick<Shop, 'key'>,
  signal: Signal,
  request: object | Uint8Array<ArrayBuffer>,
  { encoding = 'protobuf', headers = {}, gzip }: SendOptions = {},
) {
  const plain = request instanceof Uint8Array ? request : encodeAs(encoding, signal, request);
  const response = await fetch(`http://${http}/v1/${signal}`, {
    method: 'POST',
    headers: {
      'content-type': types[encoding],
      authorization: `Bearer ${key}`,
      'user-agent': 'OTel-OTLP-Exporter-JavaScript/0.223.0',
      ...(gzip && { 'content-encoding': 'gzip' }),
      ...headers,
    },
    body: gzip ? new Uint8Array(gzipSync(plain)) : plain,
  });
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), headers: response.headers, body };
}

/** Returns the checks of a flag in an environment, by variant. */
export async function variants(
  { http }: LocalService,
  { access, application }: Shop,
  environment = 'Production',
): Promise<Record<string, number>> {
  const times = { from: new Date(now - 86_400_000), to: new Date(now + 3_600_000) };
  const report = await usage(http, access, application, { environment, step: 'hour', ...times });
  return Object.fromEntries(
    report.features.flatMap((feature) => feature.variants.map(({ variant, checks }) => [variant, checks])),
  );
}
