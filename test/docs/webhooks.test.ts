import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { sentEvents } from '../../src/contract/webhook-events.ts';
import { webhookFormatNames, webhookFormats } from '../../src/contract/webhook-formats.ts';
import { delays } from '../../src/webhooks/claims.ts';
import { newWebhookSecret } from '../../src/webhooks/secrets.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { withTable } from '../support/written-table.ts';

const path = fileURLToPath(new URL('../../docs/webhooks.md', import.meta.url));
const doc = readFileSync(path, 'utf8');

test('docs/webhooks.md has the events of the contract', async () => {
  const events = Object.entries(sentEvents);
  const when = events.map(([type, event]) => [`\`${type}\``, event.when]);
  const rows = events.map(([type, { example }]) => {
    const { application: _, ...rest }: object & { application?: object | null } = example;
    return [`\`${type}\``, `\`${JSON.stringify(rest)}\``];
  });
  const withEvents = withTable(doc, ['Event', 'When'], when);
  await expect(withTable(withEvents, ['Event', '`data`'], rows)).toMatchFileSnapshot(path);
});

test('docs/webhooks.md has the formats of the contract', async () => {
  const rows = webhookFormatNames.map((name) => [`\`${name}\``, webhookFormats[name].meaning]);
  await expect(withTable(doc, ['Format', 'Receivers get'], rows)).toMatchFileSnapshot(path);
});

test('docs/webhooks.md has the schedule of the attempts', () => {
  const row = delays.map((ms) =>
    ms < 60_000 ? `${ms / 1000} s` : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`,
  );
  expect(doc).toContain(`| delay before the next | ${row.join(' | ')} | it is given up`);
});

/** The languages of the sample programs. The Go program is not tested, because it needs a compiler. */
const languages = [
  ['js', 'mjs', 'node'],
  ['python', 'py', 'python3'],
] as const;

/** PATH without the folder where `bun --bun` installs Bun as `node`. */
const PATH = process.env['PATH']!.split(delimiter)
  .filter((folder) => !basename(folder).startsWith('bun-node-'))
  .join(delimiter);

describe.each(languages)('the sample program in %s', (language, ending, program) => {
  const [, source = ''] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(doc) ?? [];
  const isThere = spawnSync(program, ['--version'], { env: { ...process.env, PATH } }).status === 0;
  const { test } = needing({ why: isThere ? undefined : `needs ${program}` });

  test('the sample program accepts good deliveries and rejects bad deliveries', () => {
    const file = `${temporaryDirectory()}/verify.${ending}`;
    writeFileSync(file, source);
    const secret = newWebhookSecret((size) => Buffer.alloc(size, 7)).text;
    const body = '{"type":"webhook.test","data":{"name":"Prüfung"}}';
    const verify = (input: string, signature: string, at: Date) =>
      execFileSync(program, [file], {
        input,
        env: {
          ...process.env,
          PATH,
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
  });
});
