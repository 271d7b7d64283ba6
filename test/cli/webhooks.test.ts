import { describe, expect, it } from 'vitest';
import { createCommands } from '../../src/cli/resource.ts';
import type { Resource } from '../../src/contract/resources/resource.ts';
import { resources } from '../../src/contract/resources/resources.ts';
import { openReceiver, verified } from '../webhooks/receiver.ts';
import { administrator } from './administrator.ts';

const { run } = administrator('--webhook-allow-private');

it('commands create, test and disable webhooks, rotate a secret, and redeliver an event', async () => {
  const receiver = await openReceiver();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const made = await run(`webhooks create Chat --endpoint ${url} --event key.leaked --event flag.stale --json`);
  const { secret, events } = JSON.parse(made.out);
  expect(events).toEqual(['key.leaked', 'flag.stale']);
  expect(made.err).toContain('shown only once');
  const { id } = JSON.parse((await run('webhooks test Chat --json')).out);
  await receiver.arrived(1);
  expect(verified(receiver.received[0]!, secret)).toMatchObject({ type: 'webhook.test' });
  const listed = await run('webhooks deliveries Chat');
  expect(listed.out).toMatch(new RegExp(`^EVENT +STATE[^]* ID\\nwebhook\\.test .* ${id}$`, 'm'));
  await expect
    .poll(async () => (await run('webhooks deliveries Chat')).out)
    .toMatch(/LAST RESPONSE +ID\n.* delivered .* 204 +msg_/);
  await run('webhooks create Broken --endpoint http://127.0.0.1:1/ --event key.leaked');
  await run('webhooks test Broken');
  await expect.poll(async () => (await run('webhooks deliveries Broken')).out).toContain('ECONNREFUSED');
  const rotated = await run('webhooks rotate Chat');
  expect(rotated.out).toContain('whsec_');
  expect(rotated.err).toContain('shown only once');
  await run(`webhooks redeliver Chat --delivery ${id}`);
  await receiver.arrived(2);
  expect(verified(receiver.received[1]!, secret), 'the secret before is good for a day').toBeTruthy();
  await run('webhooks update Chat --enabled false');
  await expect(run('webhooks test Chat')).rejects.toThrow('disabled');
  for (const name of ['Chat', 'Broken']) await run(`webhooks delete ${name} --yes`);
  expect((await run('webhooks list --json')).out).toContain('"items":[]');
});

/** Leaves the clock unchanged, so a command waits for the receiver even on a busy machine. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

it('commands create, test and change a webhook in another format, and show its requests', async () => {
  const receiver = await openReceiver((response) => void response.writeHead(400).end('invalid_blocks'));
  const url = `http://127.0.0.1:${receiver.port}/`;
  const made = await run(
    `webhooks create Issues --endpoint ${url} --event key.leaked --format jira --project SHOP --issue-type Task --authorization-file a.txt --json`,
    { files: { 'a.txt': 'Bearer secret-of-the-tracker\n' } },
  );
  expect(JSON.parse(made.out)).toMatchObject({ format: 'jira', secret: null, hasAuthorization: true });
  expect(made.err).not.toContain('shown only once');
  const tested = await run('webhooks test Issues', {}, { sleep: nextTurn });
  const { headers, body } = receiver.received[0]!;
  expect(headers['authorization']).toBe('Bearer secret-of-the-tracker');
  expect(tested.out).toContain(body);
  expect(tested.out).toMatch(/status 400.*answer invalid_blocks/);
  await run('webhooks update Issues --format slack');
  const { id } = JSON.parse((await run('webhooks test Issues --json', {}, { sleep: nextTurn })).out);
  await receiver.arrived(2);
  const shown = await run(`webhooks sent Issues --delivery ${id} --json`);
  expect(JSON.parse(shown.out)).toMatchObject({ body: receiver.received[1]!.body, state: 'failed' });
  expect(JSON.parse(receiver.received[1]!.body)).toHaveProperty('blocks');
  expect(`${made.out}${tested.out}${shown.out}`).not.toContain('secret-of-the-tracker');
  await run('webhooks delete Issues --yes');
});

describe('commands on resources', () => {
  const commands = Object.values(resources).flatMap((resource: Resource) => createCommands(resource));
  it.each(commands.map(({ command }) => command))('the command $name has each option only once', ({ options }) => {
    const names = options.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
