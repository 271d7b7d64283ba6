import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describeProtoFiles } from './proto-files.ts';

/** The messages of proto/ in protobuf's own library. It converts messages from and to protobuf's JSON format. */

export const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: describeProtoFiles() }));

export function encode(name: string, json: unknown): Buffer {
  const schema = registry.getMessage(name)!;
  return Buffer.from(toBinary(schema, fromJson(schema, json as JsonValue, { registry })));
}

/** Decodes a message. The result includes fields with the value zero. */
export function decode(name: string, bytes: Uint8Array): unknown {
  const schema = registry.getMessage(name)!;
  return toJson(schema, fromBinary(schema, bytes), { registry, alwaysEmitImplicit: true });
}

/** A usage report with every kind of content, as JSON for HTTP. */
export const usageReport = {
  appKey: 'a-key',
  environment: 'Production',
  time: '2026-01-31T12:00:00Z',
  instanceName: 'web-1',
  processStartTime: '2026-01-31T11:00:00.250Z',
  appVersion: '1.2.3',
  totalUniqueUsers: 3,
  uniqueUserHashes: [-5],
  definitionCacheHits: 7,
  definitionCacheMisses: 1,
  stats: [
    {
      feature: 'checkout',
      variantStats: {
        on: { checkCount: 3, requestCount: 2, usedCount: 2, viewedCount: 1 },
        'Größe-L': { checkCount: 2_147_483_647 },
      },
      uniqueUserHashes: [1, -2, 2_147_483_647],
      uniqueViewedUserHashes: [1, -2_147_483_648],
    },
    { feature: 'search', enabledCount: 5, disabledCount: 1, usedCount: 4, uniqueUsersUsedCount: 2 },
  ],
};

/** A metrics report with every kind of content, as JSON for HTTP. */
export const metricsReport = {
  appKey: 'a-key',
  environment: 'Production',
  time: '2026-01-31T12:00:00Z',
  instanceName: 'web-1',
  stats: [{ metric: 'sales', feature: 'checkout', value: 12.5, valueDisabled: -3 }],
  counters: [
    { metric: 'requests', value: 17 },
    { metric: 'errors', enabledCount: 4, disabledCount: 2 },
    { metric: 'visits', variantValues: { enabled: 5 } },
    { metric: 'visits', variantValues: { on: 1, off: 2 } },
  ],
  observations: [
    { time: '2026-01-31T11:59:30.125Z', metric: 'queue', value: 0.1 },
    { metric: 'depth', variantValues: { enabled: 2, other: 3 } },
    { metric: 'size', feature: 'search', variantValues: { small: 1, large: 1e300 } },
  ],
};

/** Returns a message with the content of `json`, for clients that encode it themselves. */
export function parseMessage(name: string, json: unknown): Message {
  return fromJson(registry.getMessage(name)!, json as JsonValue, { registry });
}
