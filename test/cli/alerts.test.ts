import { expect, it } from 'vitest';
import { openReceiver } from '../webhooks/receiver.ts';
import { administrator } from './administrator.ts';

const { run } = administrator('--webhook-allow-private');

it('alerts test sends an event to every enabled webhook, and exits with code 1 if a delivery fails', async () => {
  await expect(run('alerts test')).rejects.toThrow(/no enabled webhook: create a webhook/);
  const first = await openReceiver();
  const second = await openReceiver();
  for (const [name, { port }] of [
    ['Chat', first],
    ['Tickets', second],
    ['Old', second],
  ] as const)
    await run(`webhooks create ${name} --endpoint http://127.0.0.1:${port}/ --event key.leaked`);
  await run('webhooks update Old --enabled false');
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const { out } = await run('alerts test', {}, { sleep: nextTurn });
  expect(out).toMatch(/^WEBHOOK +STATE +LAST RESPONSE +ID\nChat +delivered +204 +msg_\w+\nTickets +delivered +204 /);
  expect(out).not.toContain('Old');
  expect([first.received.length, second.received.length]).toEqual([1, 1]);
  await run('webhooks create Broken --endpoint http://127.0.0.1:1/ --event key.leaked');
  await expect(run('alerts test', {}, { sleep: nextTurn })).rejects.toMatchObject({
    exitCode: 1,
    message: 'Test events that were not delivered: 1 of 3',
  });
  const { items } = JSON.parse((await run('webhooks deliveries Broken --json')).out);
  expect(items).toMatchObject([{ state: 'failed', attempts: 1, nextAttemptAt: null }]);
  for (const name of ['Chat', 'Tickets', 'Old', 'Broken']) await run(`webhooks delete ${name} --yes`);
});
