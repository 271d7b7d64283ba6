import type { Item } from './api.ts';
import { type Report, readItems, type Sheet } from './report.ts';
import { readFields } from './send.ts';
import { showNumber } from './show.ts';

/** The report on received packets and reports: accepted, accepted with a note, or refused. */
export const ingest: Report = {
  name: 'ingest',
  summary: 'Report accepted and refused packets and reports, with reasons and senders',
  examples: ['ingest --app Shop --from 24h'],
  notes: `
Lists refused packets and reports by reason and status, noted ones (accepted, but partly dropped) by
reason, and then all senders.
`,
  of: 'any environment',
  fields: [],
  headline(report) {
    const counts = ['accepted', 'refused', 'noted'].map((field) => `${field} ${showNumber(Number(report[field]))}`);
    return counts.join(', ');
  },
  tables(report) {
    const entries = readItems(report, 'entries');
    return [byReason('Refused', 'refused', entries), byReason('Noted', 'noted', entries), bySender(entries)];
  },
  more: { path: ['unattributed'], table: byToken },
  empty: 'No packets or reports in this period',
};

/** Formats the refused Unleash tokens that no application has adopted. */
function byToken(response: Item): Sheet {
  const columns = {
    token: { label: 'Refused token, not adopted', cut: true },
    sender: { label: 'Sender', cut: true },
    count: { label: 'Count', right: true },
    since: 'Since',
    lastAt: 'Last',
  } as const;
  return { columns, items: readItems(response, 'tokens') };
}

/** Formats one row for each reason, with its count and an example. */
function byReason(title: string, outcome: string, entries: readonly Item[]): Sheet {
  const wanted = entries.filter((entry) => entry['outcome'] === outcome);
  const groups = groupBy(wanted, ({ code, status, route, environment }) =>
    [code, status, route, environment].join('\n'),
  );
  const items = groups.map((group) => ({ ...group[0], ...sumGroup(group) }));
  const columns = {
    code: title,
    ...(outcome === 'refused' && { status: { label: 'Status', right: true } as const }),
    count: { label: 'Count', right: true },
    environment: { label: 'Environment', cut: true, of: readEnvironment },
    route: { label: 'Route', cut: true },
    example: { label: 'Example', cut: true, of: formatExample },
    lastAt: 'Last',
  } as const;
  return { columns, items };
}

/** Returns the environment of an entry, or else the name of an unknown environment from its example. */
function readEnvironment({ environment, example }: Item): unknown {
  return environment ?? readFields(example)['environment'];
}

function formatExample({ example }: Item): string {
  const { detail, origin } = readFields(example);
  return [detail, origin].filter((part) => typeof part === 'string').join(', from ');
}

/** Formats one row for each sender, with the number of packets for each outcome. */
function bySender(entries: readonly Item[]): Sheet {
  const groups = groupBy(entries, ({ sender, transport }) => JSON.stringify([sender, transport]));
  const items = groups.map((group) => {
    const [{ sender, transport } = {}] = group as readonly Item[];
    const { userAgent, instance } = readFields(sender);
    const counts = ['accepted', 'refused', 'noted'].map((outcome) => {
      const { count } = sumGroup(group.filter((entry) => entry['outcome'] === outcome));
      return [outcome, count];
    });
    return { userAgent, instance, transport, ...Object.fromEntries(counts), ...sumGroup(group) };
  });
  const columns = {
    userAgent: { label: 'Sender', cut: true },
    instance: { label: 'Instance', cut: true },
    transport: 'Transport',
    accepted: { label: 'Accepted', right: true },
    refused: { label: 'Refused', right: true },
    noted: { label: 'Noted', right: true },
    lastAt: 'Last',
  } as const;
  return { columns, items };
}

function groupBy(entries: readonly Item[], getName: (entry: Item) => string): readonly (readonly Item[])[] {
  const groups = new Map<string, Item[]>();
  for (const entry of entries) {
    const name = getName(entry);
    const group = groups.get(name) ?? [];
    groups.set(name, group);
    group.push(entry);
  }
  return [...groups.values()];
}

function sumGroup(group: readonly Item[]): { count: number; lastAt: string } {
  return {
    count: group.reduce((sum, { count }) => sum + Number(count), 0),
    lastAt: group.reduce((last, { lastAt }) => (String(lastAt) > last ? String(lastAt) : last), ''),
  };
}
