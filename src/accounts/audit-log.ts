import { weightsText } from '../contract/numbers.ts';
import type { ChangedField } from '../contract/shapes/activity.ts';
import type { AuditEntry as ShownEntry } from '../contract/shapes/audit-entry.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { AuditEntry } from '../storage/lmdb/records.ts';

/** The key of an audit log entry. Keys sort by number. */
export function auditKey(number: number): string {
  return String(number).padStart(16, '0');
}

export function showEntry(entry: AuditEntry): ShownEntry {
  const { number, at, actor, action, teamId, target, factors, provider, reason, changes } = entry;
  const applicationId = findApplicationId(entry);
  return {
    id: String(number),
    at: new Date(at).toISOString(),
    actor,
    action,
    teamId,
    target,
    ...(factors !== undefined && { factors: [...factors] }),
    ...(provider !== undefined && { provider }),
    ...(reason !== undefined && { reason }),
    ...(applicationId !== undefined && { applicationId }),
    ...(changes !== undefined && { changes: [...changes] }),
  };
}

const byApplication = ['application', 'environment', 'feature', 'metric', 'experiment', 'code-scan'];

/** Returns the application of an entry; `undefined` for other targets, and for a key in entries of earlier releases. */
export function findApplicationId({ applicationId, target }: AuditEntry): string | undefined {
  return applicationId ?? (byApplication.includes(target.type) ? target.id : undefined);
}

/** Returns entries, latest first. @param before exclusive upper bound of their numbers */
export function auditEntries(
  { audit }: Pick<AccountTables, 'audit'>,
  before: number | undefined,
  limit: number,
): readonly AuditEntry[] {
  audit.resetReadTxn(); // The new snapshot includes every write acknowledged before this request.
  const start = before === undefined ? {} : { start: auditKey(before - 1) };
  return Array.from(audit.getRange({ ...start, reverse: true, limit }), ({ value }) => value);
}

/** Fields that the differences omit: they always change, follow from other fields, or have entries of their own. */
const implied: ReadonlySet<string> = new Set(['updatedAt', 'archivedAt', 'splitAt', 'experiments']);

/** Maximum length of a value; longer values are cut. The next constant is the maximum number of changed fields. */
const longest = 300;
const most = 20;

/**
 * Returns the differences between two versions of the settings of an application, feature or metric, for the audit log.
 * For records with secrets, see `settingsBetween`.
 */
export function changesBetween(before: object, after: object): { readonly changes: readonly ChangedField[] } {
  const old = new Map<string, unknown>(Object.entries(before));
  const changes = Object.entries(after).flatMap(([field, value]): ChangedField[] => {
    if (implied.has(field)) return [];
    const past = old.get(field);
    // The texts are cut and rounded, so different values can have equal texts.
    if (normalize(past) === normalize(value)) return [];
    return [{ field, from: formatValue(field, past), to: formatValue(field, value) }];
  });
  return { changes: changes.slice(0, most) };
}

function normalize(value: unknown): string {
  const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return JSON.stringify(isEmpty ? null : value);
}

/** The settings of each kind of record that the audit log shows. Other fields can be secret. */
const shownSettings = {
  user: ['email', 'name', 'role'],
  team: ['name', 'plan', 'secondFactor'],
  apiKey: ['name', 'scopes', 'applications', 'expiresAt', 'publicKeys', 'trust'],
  client: ['name', 'redirectUris', 'postLogoutRedirectUris', 'publicKeys'],
  provider: [
    'name',
    'issuer',
    'clientId',
    'scopes',
    'linkByEmail',
    'createUsers',
    'defaultTeam',
    'defaultRole',
    'claimRules',
    'trustsSecondFactor',
    'enabled',
  ],
  policy: ['secondFactor', 'passwords', 'breakGlass', 'domains'],
} as const;

/** Returns the differences between two versions of a record. @param before `undefined` for a new record */
export function settingsBetween(kind: keyof typeof shownSettings, before: object | undefined, after: object) {
  const select = (record: object) => {
    const fields = new Map<string, unknown>(Object.entries(record));
    return Object.fromEntries(shownSettings[kind].map((field) => [field, fields.get(field)]));
  };
  return changesBetween(select(before ?? {}), select(after));
}

function formatValue(field: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = Array.isArray(value) ? value.map(itemText).join(', ') : plainText(field, value);
  if (text === '') return null;
  return text.length <= longest
    ? text
    : `${Array.from(text)
        .slice(0, longest - 1)
        .join('')}…`;
}

function plainText(field: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && /(At|Until)$/.test(field)) return new Date(value).toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** An object in a list: an owner, a public key, or a step of a rollout. */
interface Item {
  readonly name?: string;
  readonly id?: string;
  readonly kid?: string;
  readonly at?: number;
  readonly split?: Parameters<typeof weightsText>[0];
}

/** Formats an item of a list, such as an origin, or a variant with its weight. */
function itemText(item: unknown): string {
  if (Array.isArray(item)) return item.map(String).join(' ');
  if (typeof item !== 'object' || item === null) return String(item);
  const { name, id, kid, at, split } = item as Item;
  if (at !== undefined && split !== undefined) return `${new Date(at).toISOString()} ${weightsText(split)}`;
  return name ?? id ?? kid ?? JSON.stringify(item);
}
