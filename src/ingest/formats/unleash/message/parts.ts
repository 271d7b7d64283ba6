import { Packr } from 'msgpackr';
import { decodeText, parseJson } from '../../../../http/body.ts';
import { checkJsonEntries } from '../../../json-entries.ts';
import { readMessage, type UnleashContent, type UnleashKind, type UnleashMessage } from './message.ts';

/** A large message whose content is packed in parts, each of which is counted in a step. */
export interface PackedMessage {
  readonly head: Omit<UnleashMessage, keyof UnleashContent>;
  readonly parts: readonly Uint8Array[];
  /** Checks and values in it. */
  readonly entries: number;
}

export type UnleashFormat = `unleash-${UnleashKind}`;

export function decodeUnleash(kind: UnleashKind, body: Uint8Array): UnleashMessage {
  checkJsonEntries(body);
  return readMessage(kind, parseJson(decodeText(body)));
}

export const unleashDecoders: Readonly<Record<UnleashFormat, (body: Uint8Array) => PackedMessage>> = {
  'unleash-metrics': (body) => packMessage(decodeUnleash('metrics', body)),
  'unleash-bulk': (body) => packMessage(decodeUnleash('bulk', body)),
  'unleash-register': (body) => packMessage(decodeUnleash('register', body)),
};

/** Entries of a part: about a millisecond of work. */
const entriesPerPart = 1000;

const packr = new Packr({ useRecords: false });

export function packMessage({ usages, counters, gauges, ...head }: UnleashMessage): PackedMessage {
  const parts = [...contentParts({ usages, counters, gauges })];
  const entries = usages.reduce(
    (sum, { checks }) => sum + 1 + checks.length,
    counters.length + gauges.length,
  );
  return { head, parts: parts.map((part) => new Uint8Array(packr.pack(part))), entries };
}

export function unpackPart(part: Uint8Array): UnleashContent {
  return packr.unpack(part);
}

function* contentParts({ usages, counters, gauges }: UnleashContent): Generator<UnleashContent> {
  const nothing = { usages: [], counters: [], gauges: [] };
  let open: UnleashContent['usages'][number][] = [];
  let entries = 0;
  for (const usage of usages) {
    for (let from = 0; from === 0 || from < usage.checks.length; from += entriesPerPart) {
      const checks = usage.checks.slice(from, from + entriesPerPart);
      open.push({ ...usage, checks });
      entries += 1 + checks.length;
      if (entries < entriesPerPart) continue;
      yield { ...nothing, usages: open };
      open = [];
      entries = 0;
    }
  }
  if (open.length > 0) yield { ...nothing, usages: open };
  for (const kind of ['counters', 'gauges'] as const) {
    const values = kind === 'counters' ? counters : gauges;
    for (let from = 0; from < values.length; from += entriesPerPart)
      yield { ...nothing, [kind]: values.slice(from, from + entriesPerPart) };
  }
}
