import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { type RefusalCode, refusals } from '../../src/contract/refusals.ts';
import { type SentEventType, sentEvents } from '../../src/contract/webhook-events.ts';
import { type WebhookFormat, webhookFormatNames } from '../../src/contract/webhook-formats.ts';
import { formatBody } from '../../src/webhooks/formats/formats.ts';
import { at, dataWith } from './event-examples.ts';
import { longest, type PublishedFormat, published } from './published-formats.ts';

const team = { id: 'team_1', name: 'Shop' };
const consoleUrl = 'https://flags.example.com/metrics/';

type Body = Readonly<Record<string, unknown>>;

function bodyIn(format: WebhookFormat, type: SentEventType, name: string, teamName = name): string {
  const data = { team: { ...team, name: teamName }, ...dataWith(name)[type] };
  const body = JSON.stringify({ type, timestamp: at, data });
  const webhook = format === 'jira' ? { format, project: 'SHOP', issueType: 'Task' } : { format };
  return formatBody(webhook, { id: 'msg_7_a', body }, consoleUrl);
}

const events = Object.keys(sentEvents) as SentEventType[];
const formats = webhookFormatNames.filter((format) => format !== 'standard');
const both = formats.flatMap((format) => events.map((event) => [format, event] as const));

/** All texts of a body. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test.each(both)('the %s message of %s fits the published format, even with the longest names', (format, event) => {
  const { schema, maxBytes }: PublishedFormat = published[format];
  for (const name of ['checkout', ...longest]) {
    const body = bodyIn(format, event, name);
    expect([...Value.Errors(schema, JSON.parse(body))]).toEqual([]);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxBytes);
  }
});

test.each(both)('the %s message of %s has a sentence and a link to the console', (format, event) => {
  const texts = textsIn(JSON.parse(bodyIn(format, event, 'checkout', 'Shop')));
  expect(texts.some((text) => /\bcheckout\b/.test(text))).toBe(true);
  expect(texts.some((text) => text.includes('https://flags.example.com/metrics/'))).toBe(true);
  expect(texts.join('\n')).not.toMatch(/undefined|null|\[object|NaN/);
});

test.each(both)(
  'names in the %s message of the event %s contain no control characters or direction marks',
  (format, event) => {
    const body = bodyIn(format, event, 'a\u202eb\u2066c\u0007d\u2028e\r\nf');
    for (const text of textsIn(JSON.parse(body))) expect(text).not.toMatch(/[\u202e\u2066\u0007\u2028\r]|e\nf/);
  },
);

test('the example of ingest.refusing has the status and the title of the refusal', () => {
  const { code, status, title } = sentEvents['ingest.refusing'].example;
  expect(refusals[code as RefusalCode]).toMatchObject({ status, title });
});

test('the standard format contains the queued event unchanged', () => {
  const body = bodyIn('standard', 'flag.stale', 'checkout');
  expect(JSON.parse(body)).toMatchObject({ type: 'flag.stale', data: { feature: 'checkout' } });
});

test('an unknown event of a later release also becomes a message', () => {
  const data = { team };
  const body = JSON.stringify({ type: 'flag.renamed', timestamp: at, data });
  const sent = JSON.parse(formatBody({ format: 'github' }, { id: 'msg_7_a', body }, consoleUrl)) as Body;
  expect(sent['title']).toBe('The event flag.renamed has occurred');
});

describe('a name that a sender chose', () => {
  const hostile = '<!channel> & <@U1> `*x*` [a](http://evil) @all #1 {color:red} ~u \\';

  test('Slack shows the name as code, without mentions', () => {
    const texts = textsIn(JSON.parse(bodyIn('slack', 'flag.stale', hostile)));
    const shown = texts.filter((text) => text.includes('!channel'));
    expect(shown.length).toBeGreaterThan(0);
    for (const text of shown) {
      expect(text).not.toMatch(/<[^h]/);
      expect(text).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;');
    }
    expect(shown.at(-1)).toContain('`&lt;!channel&gt; &amp; &lt;@U1&gt; ˋ*x*ˋ');
  });

  test('Teams shows the name as text without Markdown', () => {
    const { attachments } = JSON.parse(bodyIn('teams', 'flag.stale', hostile)) as {
      attachments: [{ content: { body: Body[] } }];
    };
    const { body } = attachments[0].content;
    expect(new Set(body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']));
    expect(textsIn(body).join()).toContain(hostile);
  });

  test.each(['github', 'gitlab'] as const)('a name on %s is a code span that never starts a line', (format) => {
    const body = JSON.parse(bodyIn(format, 'flag.stale', hostile)) as Body;
    const text = String(body['body'] ?? body['description']);
    expect(text).toContain(`\`\`${hostile}\`\``);
    const action = JSON.parse(bodyIn(format, 'flag.stale', '/close')) as Body;
    expect(String(action['body'] ?? action['description'])).not.toMatch(/^\s*(- )?\/close/m);
  });

  test.each([
    ['`', '`` ` ``'],
    ['a``b', '```a``b```'],
    [' a', '`  a `'],
    ['plain', '`plain`'],
  ])('the name %j becomes the code span %s in Markdown', (name, span) => {
    const { body } = JSON.parse(bodyIn('github', 'webhook.test', name)) as { body: string };
    expect(body).toContain(`the webhook ${span} of`);
  });

  test('the name is escaped in Jira', () => {
    const { fields } = JSON.parse(bodyIn('jira', 'webhook.test', hostile)) as { fields: Body };
    const text = String(fields['description']);
    expect(text).toContain('\\{color:red\\}');
    expect(text).toContain('\\[a\\]\\(http&#58;//evil\\)');
    expect(text).toContain('\\~u &#92;');
    expect(text).not.toMatch(/(?<!\\)[{[]c|\\\\/);
  });

  test('the name of a flag is encoded in the link', () => {
    const { body } = JSON.parse(bodyIn('github', 'flag.first_seen', 'a)b|c>d"\'(e')) as { body: string };
    expect(body).toContain(`(${consoleUrl}apps/app_1/`);
    expect(body).toContain('?name=a%29b%7Cc%3Ed%22%27%28e)');
  });
});

test('an issue contains the sentence, the facts, the link and the delivery id', () => {
  expect(JSON.parse(bodyIn('gitlab', 'flag.stale', 'checkout', 'Shop'))).toEqual({
    title: 'The flag checkout of checkout is stale: nothing has named it for a long time',
    description: [
      'The flag `checkout` of `checkout` is stale: nothing has named it for a long time.',
      '',
      '- **Last seen:** 2026-01-31 12:00 UTC',
      '- **Stale since:** 2026-01-31 12:00 UTC',
      '- **Caution:** Silence is the only evidence: a sender that could use the flag might be switched off.',
      '- **Owners:** `checkout`, `checkout`, `checkout` and 5 more',
      '- **Team:** `Shop`',
      '',
      '[Open in flagmeter](https://flags.example.com/metrics/apps/app_1?flag=checkout)',
      '',
      'Delivery `msg_7_a`',
    ].join('\n'),
  });
});

test.each(events)('the event %s has the same sentence in all formats', (event) => {
  const { title } = JSON.parse(bodyIn('github', event, 'checkout', 'Shop')) as { title: string };
  const slack = JSON.parse(bodyIn('slack', event, 'checkout', 'Shop')) as { text: string };
  const jira = JSON.parse(bodyIn('jira', event, 'checkout', 'Shop')) as { fields: { summary: string } };
  expect(slack.text).toBe(title);
  expect(jira.fields.summary).toBe(title);
});
