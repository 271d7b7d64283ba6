import { otherSenders } from '../storage/lmdb/ledger.ts';
import type { Sender } from '../storage/lmdb/senders.ts';
import { ledgerText } from './ledger/text.ts';

/**
 * The names of senders. Anyone can choose the headers of packets, so these are grouped: a browser by family and major version,
 * anything else by first product and its major version. Servers report with a key, so their full versions are kept.
 */
type Named = Pick<Sender, 'name' | 'version'>;

/** Browsers by their token in `User-Agent`. Most also contain the tokens further down. */
const browsers: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d{1,4})/],
  ['Opera', /\bOPR\/(\d{1,4})/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d{1,4})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /\bVersion\/(\d{1,4})\S* (?:Mobile\/\S+ )?Safari\//],
];

const nameless = 'unnamed';

/** The sender of a packet with this `User-Agent`. */
export function packetSender(userAgent = ''): Sender {
  const found = userAgent.startsWith('Mozilla/') ? browserOf(userAgent) : productOf(userAgent);
  const version = found.version === null ? null : (/^v?(\d{1,4})(?!\d)/.exec(found.version)?.[1] ?? null);
  return { name: found.name, version, transport: 'http', route: 'telemetry' };
}

/**
 * The sender of a report.
 * @param userAgent as sent
 * @param appVersion of the report, which takes precedence over the version of the product
 */
export function reportSender(
  { transport, route }: Pick<Sender, 'transport' | 'route'>,
  userAgent = '',
  appVersion = '',
): Sender {
  const { name, version } = productOf(userAgent);
  return { name, version: kept(appVersion) || version, transport, route };
}

function browserOf(userAgent: string): Named {
  const head = userAgent.slice(0, 500);
  for (const [name, mark] of browsers) {
    const version = mark.exec(head)?.[1];
    if (version !== undefined) return { name, version };
  }
  return { name: 'Browser', version: null };
}

/** The first product of a `User-Agent` (RFC 9110 §10.1.5), whose name may have spaces here. */
function productOf(userAgent: string): Named {
  const [, name = '', version = ''] = /^([^/(;]*)(?:\/([^\s(;]*))?/.exec(userAgent.slice(0, 500)) ?? [];
  const isName = kept(name) !== '' && kept(name) !== otherSenders;
  return { name: isName ? kept(name) : nameless, version: kept(version) || null };
}

const longest = 40;

/** Truncates a text from a request and removes secrets. */
function kept(text: string): string {
  return [...ledgerText(text)].slice(0, longest).join('').trim();
}
