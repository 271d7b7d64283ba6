import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { webhookEvents } from '../../src/storage/lmdb/webhook-records.ts';
import { delays } from '../../src/webhooks/schedule.ts';
import { newWebhookSecret } from '../../src/webhooks/secrets.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const paper = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');

test('the paper has every event, and the schedule', () => {
  const events = Array.from(paper.matchAll(/^\| `(\w+\.\w+)` \| [^`{]/gm), ([, event]) => event);
  expect(events).toEqual(expect.arrayContaining([...webhookEvents, 'webhook.test']));
  const row = delays.map((ms) =>
    ms < 60_000 ? `${ms / 1000} s` : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`,
  );
  expect(paper).toContain(`| the next comes after | ${row.join(' | ')} | it is given up`);
});

/** The one in Go takes a compiler: whoever changes it runs it by hand. */
const languages = [
  ['js', 'mjs', 'node'],
  ['python', 'py', 'python3'],
] as const;

describe.each(languages)('the program in %s', (language, ending, program) => {
  const [, source = ''] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(paper) ?? [];
  const isThere = spawnSync(program, ['--version']).status === 0;

  test.skipIf(!isThere)(
    `tells good deliveries from bad ones (needs ${program})`,
    () => {
      const file = `${temporaryDirectory()}/verify.${ending}`;
      writeFileSync(file, source);
      const secret = newWebhookSecret((size) => Buffer.alloc(size, 7)).text;
      const body = '{"type":"webhook.test","data":{"name":"Prüfung"}}';
      const verify = (input: string, signature: string, at: Date) =>
        execFileSync(program, [file], {
          input,
          env: {
            ...process.env,
            SECRET: secret,
            ID: 'msg_1_a',
            TIMESTAMP: String(Math.floor(at.getTime() / 1000)),
            SIGNATURE: signature,
          },
        })
          .toString()
          .trim();
      const now = new Date();
      const old = new Date(now.getTime() - 400_000);
      const signed = (at: Date) => new Webhook(secret).sign('msg_1_a', at, body);
      expect(verify(body, `v1,AAAA ${signed(now)}`, now)).toBe('good');
      expect(verify(`${body} `, signed(now), now)).toBe('bad');
      expect(verify(body, signed(old), old)).toBe('bad');
    },
    60_000,
  );
});
