import type { ErrorCode } from '../../../contract/errors.ts';
import type { LedgerNote } from '../../../ingest/ledger/notes.ts';

/** Codes of the management API only, which no ledger has. */
type OfOtherRoutes =
  | 'too_many_points'
  | 'invalid_path'
  | 'invalid_head'
  | 'invalid_query'
  | 'unauthorized'
  | 'forbidden'
  | 'not_in_team'
  | 'plan_limit'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed';

/** Every code that a ledger can have: why something was refused, or was not counted as it was sent. */
export type LedgerCode = Exclude<ErrorCode, OfOtherRoutes> | LedgerNote;

export interface Advice {
  /** What has happened. */
  readonly means: string;
  readonly todo: string;
}

/** What to do about each reason. */
export const advice: Readonly<Record<LedgerCode, Advice>> = {
  invalid_content_type: {
    means: 'The body is not of a type that is read here.',
    todo: 'Send it as application/json; packets may also be text/plain.',
  },
  invalid_content_encoding: {
    means: 'The body could not be unpacked.',
    todo: 'Send it as it is, or packed with gzip.',
  },
  invalid_encoding: {
    means: 'The body is not valid UTF-8.',
    todo: 'Encode the JSON as UTF-8.',
  },
  invalid_json: {
    means: 'The body is not valid JSON.',
    todo: 'Build it with a JSON library. A body that was cut off looks like this, too.',
  },
  invalid_protobuf: {
    means: 'The message is not the protobuf that is expected here.',
    todo: 'Generate the client from the .proto files of this server.',
  },
  invalid_body: {
    means: 'The body is not an object, or lacks a field that it must have.',
    todo: 'The answer to the sender names the place. Compare with the OpenAPI document of the metrics host.',
  },
  invalid_name: {
    means: 'A name is empty, too long or has control characters.',
    todo: 'Use names of 1 to 256 bytes without control characters.',
  },
  invalid_time: {
    means: 'The time of a report is missing or cannot be read.',
    todo: 'Send times like 2026-01-31T12:00:00Z.',
  },
  invalid_idempotency_key: {
    means: 'The Idempotency-Key cannot be read.',
    todo: 'Use a new UUID for each message.',
  },
  invalid_identity: {
    means: 'The identity to mint for is missing, too long or has control characters.',
    todo: 'Send 1 to 256 characters that name the user, and mint only for users who are signed in.',
  },
  unknown_backend_key: {
    means: 'An instance id was asked for without a Backend key that exists.',
    todo: 'Send a Backend key of the application in Authorization. Was the key deleted or rotated?',
  },
  origin_missing: {
    means: 'A Frontend key came without an Origin, so not from a page.',
    todo: 'Frontend keys are for browsers. Give apps a Mobile key and servers a Backend key.',
  },
  origin_not_allowed: {
    means: 'A page of an origin that is not in the list of the application has sent this.',
    todo: "If the page is yours, add its origin in the application's settings. If not, it is a copy of your page: nothing of it was counted.",
  },
  not_backend_key: {
    means: 'A Frontend or Mobile key was used to mint an instance id.',
    todo: 'Mint on your server, with a Backend key. Never give a Backend key to a page or an app.',
  },
  unknown_key: {
    means: 'The key cannot be used here: packets take Frontend and Mobile keys only.',
    todo: 'If a Backend key was sent, it has leaked: replace it. Otherwise use a key of the list in the settings.',
  },
  unknown_environment: {
    means: 'The application has no environment of this name.',
    todo: 'Compare the spelling: upper and lower case matter. Or create the environment.',
  },
  body_too_slow: {
    means: 'The body took too long to arrive.',
    todo: 'Nothing, if it is rare: the network of the sender is slow.',
  },
  body_too_large: {
    means: 'The body is larger than this server takes.',
    todo: 'Send more often, or raise --max-body (packets) or --max-report (reports).',
  },
  unsupported_media_type: {
    means: 'A gRPC-Web call has a content type that is not one of gRPC-Web.',
    todo: 'Send application/grpc-web or application/grpc-web-text. JSON goes to /api/usage/stats and /api/metrics.',
  },
  rate_limited: {
    means: 'The application sends more than its rate allows.',
    todo: "Let senders collect for longer, or raise the rate in the application's settings. SDKs send a refused batch again.",
  },
  internal: {
    means: 'The server failed.',
    todo: 'Look for the cause in its log. Senders try again.',
  },
  message_compressed: {
    means: 'The message is packed in a way that is not known here.',
    todo: 'Send it as it is, or packed with gzip.',
  },
  backpressure: {
    means: 'Too much was waiting for the disk, so senders were asked to come back.',
    todo: 'Short bursts are normal: SDKs try again. If it lasts, the disk is too slow for what comes in.',
  },
  store_unavailable: {
    means: 'The store could not take data.',
    todo: 'Look at the free space of the disk and at the log of the server. Senders try again.',
  },
  engine_unavailable: {
    means: 'The PostgreSQL that all nodes share could not be reached.',
    todo: 'Look at the log of the server and at the PostgreSQL. Senders try again.',
  },
  spool_full: {
    means: 'The node keeps as much as --spool-max allows, and waits for the PostgreSQL to take it.',
    todo: 'Bring the PostgreSQL back, or allow a larger spool. Senders try again.',
  },
  deadline_exceeded: {
    means: 'The sender did not wait long enough.',
    todo: 'Give its gRPC calls a deadline of some seconds. Nothing of the report was counted.',
  },
  instance_dropped: {
    means:
      'Packets came with an instance id that has expired or is not known. They count, but for no person.',
    todo: 'Mint a new id when a session begins.',
  },
  series_folded: {
    means: 'There are more names than the limit, so the surplus was counted as __other__.',
    todo: 'Look for names that are made of data, such as ids. Or raise --max-features, --max-variants or --max-metrics.',
  },
  name_dropped: {
    means: 'Entries with an empty, too long or forbidden name were left out.',
    todo: 'Use names of 1 to 256 bytes without control characters.',
  },
  value_missing: {
    means: 'Metrics came without a value and were left out.',
    todo: 'Send value, or variantValues for a metric of a feature.',
  },
  value_dropped: {
    means:
      'Values that cannot be counted were left out: not finite, negative, fractional, too large or of the wrong type.',
    todo: 'Send counts as whole numbers from 0 to 2,147,483,647, and leave a measurement out when there is no number.',
  },
  time_moved: {
    means:
      'Reports came from the future, or from before all that is kept. They count now, or in the oldest day.',
    todo: 'Set the clock of the sender.',
  },
  time_zone_missing: {
    means: 'Times of reports have no zone. They were read as UTC.',
    todo: 'Send times like 2026-01-31T12:00:00Z.',
  },
  field_unknown: {
    means: 'Packets have a field that is not known.',
    todo: 'Check its spelling: the fields are k, e, f, m, i and u.',
  },
  possible_repeat: {
    means:
      'Messages resemble others of the last ten minutes. They were counted: processes of one host report alike.',
    todo: 'Where they are retries, send an Idempotency-Key or a time finer than a millisecond.',
  },
  repeated: {
    means: 'The same message came again. It was counted once.',
    todo: 'Nothing: the sender had missed the first answer.',
  },
};

/** The advice on a code. A newer server may have codes that this page does not know. */
export function adviceOn(code: string): Advice {
  if (Object.hasOwn(advice, code)) return advice[code as LedgerCode];
  return {
    means: `The reason has the code ${code}.`,
    todo: 'Look it up in the list of errors of this version.',
  };
}
