import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GrpcListener } from '../../src/ingest/grpc/listener.ts';
import { openClient } from '../support/grpc-call.ts';
import { openGrpc } from '../support/open-grpc.ts';
import { decode, encode } from '../support/report-messages.ts';

let listener: GrpcListener;
let client: Client;

beforeAll(async () => {
  listener = await openGrpc();
  client = openClient(`127.0.0.1:${listener.port}`);
});

afterAll(async () => {
  client.close();
  await listener.close(0);
});

interface Response {
  readonly originalRequest: unknown;
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly string[] };
  readonly errorResponse?: { readonly errorCode: number };
}

/** Sends requests over one stream. @returns the responses in order */
async function ask(version: string, requests: readonly (object | Buffer)[]): Promise<Response[]> {
  const service = `grpc.reflection.${version}`;
  const stream = client.makeBidiStreamRequest(
    `/${service}.ServerReflection/ServerReflectionInfo`,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => decode(`${service}.ServerReflectionResponse`, bytes) as Response,
  );
  for (const request of requests) {
    stream.write(Buffer.isBuffer(request) ? request : encode(`${service}.ServerReflectionRequest`, request));
  }
  stream.end();
  return stream.toArray();
}

describe.each(['v1', 'v1alpha'])('server reflection %s', (version) => {
  it('server reflection lists every service', async () => {
    const request = { listServices: '*', host: 'here' };
    const [response] = (await ask(version, [request])) as [Response];
    expect(response.listServicesResponse?.service.map(({ name }) => name)).toEqual([
      'Usage.Usage',
      'Metrics.Metrics',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    expect(response.originalRequest).toEqual(request);
  });

  it.each([
    ['a service', { fileContainingSymbol: 'Usage.Usage' }, ['usage.proto', 'google/protobuf/timestamp.proto']],
    [
      'a method',
      { fileContainingSymbol: 'Metrics.Metrics.SendMetrics' },
      ['metrics.proto', 'google/protobuf/timestamp.proto'],
    ],
    [
      'an enum',
      { fileContainingSymbol: 'grpc.health.v1.HealthCheckResponse.ServingStatus' },
      ['grpc/health/v1/health.proto'],
    ],
    ['a file name', { fileByFilename: 'google/protobuf/timestamp.proto' }, ['google/protobuf/timestamp.proto']],
  ])('server reflection describes the file of %s together with its imports', async (_, request, names) => {
    const [response] = (await ask(version, [request])) as [Response];
    const files = response.fileDescriptorResponse?.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, Buffer.from(bytes, 'base64')),
    );
    expect(files?.map(({ name }) => name)).toEqual(names);
  });

  it('server reflection responds to an unknown name with an error, and the stream continues', async () => {
    const responses = await ask(version, [
      { fileContainingSymbol: 'Usage.Nothing' },
      { fileByFilename: '../../etc/passwd' },
      { fileContainingExtension: { containingType: 'Usage.FeatureStat', extensionNumber: 1 } },
      { allExtensionNumbersOfType: 'Usage.FeatureStat' },
      {},
      { listServices: '' },
    ]);
    expect(responses.map(({ errorResponse }) => errorResponse?.errorCode)).toEqual([5, 5, 5, 5, 3, undefined]);
  });

  it('a server reflection stream ends with INVALID_ARGUMENT after a malformed request', async () => {
    await expect(ask(version, [Buffer.from([0x0a])])).rejects.toMatchObject({ code: 3 });
  });
});
