import type { Refusals } from '../http/endpoint.ts';

/** What every operation that takes a body refuses it for. @param maxBody most bytes of a body */
export const bodyRefusals = (maxBody: number) =>
  ({
    invalid_content_encoding: 'Send the body as it is, or as gzip',
    invalid_encoding: 'Send UTF-8',
    invalid_json: 'Send one JSON value',
    body_too_large: `A body may have ${maxBody} bytes at most`,
    rate_limited: 'The application sends more than its rate allows',
    backpressure: 'Too much is waiting for the disk',
    store_unavailable: 'The store cannot take data; see the log',
  }) as const satisfies Refusals;
