import type { Api, Item } from './api.ts';
import type { Context } from './context.ts';
import { readFields } from './send.ts';

/** Time limit for the first delivery attempt, ms. It is longer than the server waits for a receiver. */
const followMs = 20_000;
const followEveryMs = 200;

/** Polls a delivery until the server has attempted it, or until the time limit. @throws {Failure} */
export async function followDelivery(
  { clock, sleep }: Pick<Context, 'clock' | 'sleep'>,
  api: Api,
  path: readonly string[],
): Promise<Item> {
  const deadline = clock.monotonic() + followMs;
  for (;;) {
    const item = readFields(await api.call('GET', path));
    if (item['attempts'] !== 0 || clock.monotonic() >= deadline) return item;
    await sleep(followEveryMs);
  }
}
