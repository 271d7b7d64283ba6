import type { Round } from '../round.ts';
import type { Answer } from './ask.ts';

/** What every packet and report counts once beside its own: so the sum of all says how many were counted. */
export const all = { all: { on: [1, 1, 1] } };

/** Sends a packet of the round's shop. */
export function telemetry(
  round: Round,
  http: string,
  packet: object,
  headers: Readonly<Record<string, string>> = {},
  kind = 'packet',
): Promise<Answer> {
  const { keys, environment } = round.shop;
  return round.ask(http, {
    kind,
    method: 'POST',
    path: '/api/frontend/telemetry',
    headers: { origin: 'https://shop.example', ...headers },
    body: { k: keys.Frontend, e: environment, ...packet },
  });
}
