/** A reason to refuse a request. Texts can contain Markdown code, and end without a full stop. */
export interface RefusalDescription {
  /** The HTTP status. */
  readonly status: number;
  /** The meaning of the code, for the sender of the request. */
  readonly title: string;
  /** Description of the event, for readers of the ledger; by default the title. */
  readonly meaning?: string;
  /** Code of this refusal in earlier builds. Until the release after 0.2, responses contain it as `formerCode`. */
  readonly formerly?: string;
  /** The action that solves the problem. */
  readonly remedy: string;
}

/**
 * The refusals of packets, reports and mint requests, by their stable codes. The ledger records them, and the console
 * shows their remedies.
 */
export const ledgerRefusals = {
  invalid_content_type: {
    status: 400,
    title: 'The route does not accept this content type',
    remedy: 'Send `application/json`. Telemetry may also be `text/plain`, or have no content type',
  },
  invalid_content_encoding: {
    status: 400,
    title: 'The body cannot be decoded with its content encoding',
    remedy: 'Send the body unencoded, or compressed with `gzip`',
  },
  invalid_encoding: { status: 400, title: 'The body is not valid UTF-8', remedy: 'Encode the body as UTF-8' },
  invalid_json: { status: 400, title: 'The body is not valid JSON', remedy: 'Correct the JSON, or reduce its nesting' },
  invalid_protobuf: {
    status: 400,
    title: 'The message is not valid protobuf, or its gRPC-Web frame is not valid',
    remedy: 'Encode with the .proto files of this service',
  },
  invalid_body: {
    status: 400,
    title: 'The body does not have the expected shape',
    remedy: 'See `detail` and the OpenAPI document',
  },
  invalid_name: {
    status: 400,
    title: 'A name is empty, too long or not allowed',
    remedy: 'Use names of 1 to 256 bytes of UTF-8 without control characters',
  },
  invalid_time: {
    status: 400,
    title: 'The time is missing or malformed',
    remedy: 'Send times like `2026-01-31T12:00:00Z`',
  },
  invalid_idempotency_key: {
    status: 400,
    title: 'The Idempotency-Key is not 1 to 255 printable ASCII characters',
    remedy: 'Use a UUID for each new message',
  },
  invalid_identity: {
    status: 400,
    title: 'The identity is missing, too long or contains control characters',
    remedy: 'Send 1 to 256 characters that identify the user. Mint only for signed-in users',
  },
  unknown_backend_key: {
    status: 401,
    title: 'A Backend key of an application is required',
    meaning: 'An instance id was requested without a valid Backend key',
    remedy: 'Send a Backend key of the application in `Authorization`, raw or after `Bearer`',
  },
  origin_missing: {
    status: 403,
    title: 'A browser-safe key needs an Origin header',
    meaning: 'A Frontend key was sent without an `Origin`, so the sender was not a page',
    remedy:
      "Send from a browser. With `curl`, add `-H 'Origin: https://shop.example'`. Use a Mobile key in apps, and a Backend key on servers",
  },
  origin_not_allowed: {
    status: 403,
    title: 'The application does not allow this origin',
    meaning: 'A page sent this from an origin that the application does not allow',
    remedy:
      'Add the origin of your page to the application (`flagmeter apps update APP --origin ORIGIN`, with all origins). Any other page is a copy. None of its data was counted',
  },
  not_backend_key: {
    status: 403,
    title: 'The key is not a Backend key',
    meaning: 'An instance id was requested with a Frontend or Mobile key',
    remedy: 'Mint on your server, with a Backend key. Never use a Backend key in a page or an app',
  },
  unknown_key: {
    status: 404,
    title: 'No application has this key',
    meaning: 'No application has this key, or it is a Backend key, which telemetry does not accept',
    remedy:
      'Use a key from the settings of the application (`flagmeter keys list`). A Backend key in telemetry has leaked: replace it',
  },
  unknown_environment: {
    status: 404,
    title: 'The application has no such environment',
    remedy: 'Check the spelling and the case (`flagmeter envs list`), or create the environment',
  },
  body_too_slow: {
    status: 408,
    title: 'The body took too long to arrive',
    remedy: 'Open a new connection, and send at least 2 KiB a second',
  },
  body_too_large: {
    status: 413,
    title: 'The body is larger than the limit',
    remedy:
      'Split the body, or raise `--max-body` (packets) or `--max-report` (reports). Also check the limit of your proxy',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not a gRPC-Web content type',
    remedy: 'Send `application/grpc-web`, `application/grpc-web-text`, or either with `+proto`',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests; wait, then back off exponentially',
    meaning: 'The application sends more than its rate allows',
    remedy: "Retry after `Retry-After` seconds, or raise the rate in the application's settings",
  },
  internal: { status: 500, title: 'The service failed; the log has the cause', remedy: 'Retry later. Check the log' },
  message_compressed: {
    status: 501,
    title: 'The compression of the message is not supported',
    remedy: 'Send the message uncompressed, or compressed with gzip',
  },
  backpressure: {
    status: 503,
    title: 'Too many packets are waiting for the disk; retry later',
    meaning: 'Too many packets were waiting for the disk',
    remedy: 'Retry after `Retry-After` seconds. Short bursts are normal. If the refusals persist, the disk is too slow',
  },
  store_unavailable: {
    status: 503,
    title: 'The store cannot accept data right now',
    meaning: 'The store could not accept data',
    remedy: 'Retry later. Check the free disk space and the log',
  },
  postgres_unavailable: {
    formerly: 'engine_unavailable',
    status: 503,
    title: 'PostgreSQL is unreachable right now',
    meaning: 'The PostgreSQL that all nodes share could not be reached',
    remedy: 'Retry later. The node continues counting. Check PostgreSQL and the log',
  },
  spool_full: {
    status: 503,
    title: 'The spool is full: PostgreSQL is not accepting data',
    remedy: 'Retry later, or send to another node. Restore PostgreSQL, or raise `--spool-max`',
  },
  deadline_exceeded: {
    status: 504,
    title: 'The deadline passed before the report was accepted',
    remedy: 'Nothing was counted: retry with a deadline of a few seconds',
  },
} as const satisfies Readonly<Record<string, RefusalDescription>>;
