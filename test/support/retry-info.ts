import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message RetryInfo { Duration retry_delay = 1; }
`);

/** Decodes a `google.rpc.Status` to its code, its message, and the seconds in its `google.rpc.RetryInfo`. */
export function readRetryInfo(bytes: Uint8Array): { code: number; message: string; seconds: number } {
  const read = (type: string, value: Uint8Array) => root.lookupType(type).decode(value) as unknown;
  const status = read('Status', bytes) as {
    code: number;
    message: string;
    details: { typeUrl: string; value: Uint8Array }[];
  };
  const [detail] = status.details;
  if (detail?.typeUrl !== 'type.googleapis.com/google.rpc.RetryInfo') throw new Error('there is no RetryInfo');
  const { retryDelay } = read('RetryInfo', detail.value) as { retryDelay: { seconds: number } };
  return { code: status.code, message: status.message, seconds: Number(retryDelay.seconds) };
}
