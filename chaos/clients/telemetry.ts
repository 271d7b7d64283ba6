import type { Round } from '../round.ts';
import type { ServiceResponse } from './ask.ts';

/**
 * Series that counts every packet and report once, in addition to their own series. Its sum is the number of counted
 * requests.
 */
export const all = { all: { on: [1, 1, 1] } };

/** Sends a packet of the round's shop. */
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
