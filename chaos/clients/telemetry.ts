import type { Round } from '../round.ts';
import type { ServiceResponse } from './ask.ts';

/**
 * A series to which every packet and report adds one, in addition to its own series. The sum is the number of counted
 * requests.
 */
export const all = { all: { on: [1, 1, 1] } };

/** Sends a packet to the application of a round. */
export function telemetry(
  round: Round,
  http: string,
  packet: object,
  headers: Readonly<Record<string, string>> = {},
  kind = 'packet',
): Promise<ServiceResponse> {
  const { keys, environment } = round.shop;
  return round.ask(http, {
    kind,
    method: 'POST',
    path: '/api/frontend/telemetry',
    headers: { origin: 'https://shop.example', ...headers },
    body: { k: keys.Frontend, e: environment, ...packet },
  });
}
