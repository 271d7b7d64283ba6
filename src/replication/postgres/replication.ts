import type { Run } from './session.ts';

export interface Replication {
  /** The setting `synchronous_standby_names`. */
  readonly synchronousStandbys: string;
  /** The setting `cluster_name`, which is the default `application_name` of a server's own replication connections. */
  readonly clusterName: string;
  readonly standbys: readonly Standby[];
}

interface Standby {
  readonly name: string;
  /** `async`, `potential`, `sync` or `quorum`; `null` if the role may not read `pg_stat_replication`. */
  readonly state: string | null;
}

/** Reads the standbys. Excludes base backups, archives and logical subscribers, which are never promoted. */
const text = `SELECT current_setting('synchronous_standby_names') AS "synchronousStandbys",
    current_setting('cluster_name') AS "clusterName",
    (SELECT coalesce(json_agg(json_build_object('name', application_name, 'state', sync_state) ORDER BY application_name), '[]')
      FROM pg_stat_replication AS sender
      WHERE state IS DISTINCT FROM 'backup' AND application_name NOT IN ('pg_basebackup', 'pg_receivewal')
        AND NOT EXISTS (SELECT 1 FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid = sender.pid)
    ) AS standbys`;

/** Reads the settings and standbys through a session with the primary. */
export async function readReplication(run: Run): Promise<Replication> {
  return (await run<Replication>({ text })).rows[0]!;
}

/**
 * Returns why a promotion can lose acknowledged commits; `undefined` if it cannot. Each commit must wait for every
 * standby that can be promoted: otherwise the old primary could continue with the other standbys after a promotion.
 * Without standbys, no promotion is possible.
 */
export function whyCommitsMayBeLost(replication: Replication): string | undefined {
  const { synchronousStandbys: value, standbys } = replication;
  if (value.trim() === '') {
    if (standbys.length === 0) return undefined;
    const names = standbys.map(({ name }) => name).join(', ');
    return `synchronous_standby_names is empty, so no commit waits for the standbys (${names})`;
  }
  const parsed = parseSynchronousStandbys(value);
  if (parsed === undefined) return `synchronous_standby_names (${value}) cannot be read`;
  const { needed, names } = parsed;
  if (names.includes('*'))
    return `synchronous_standby_names (${value}) accepts any standby, so the old primary can continue with a standby other than the promoted one`;
  const candidates = countCandidates(replication, new Set(names));
  if (candidates <= needed) return undefined;
  const patroni = /^\s*any\b/i.test(value)
    ? ': a primary that hangs can still commit with the others. With Patroni, set synchronous_mode to true instead of quorum'
    : '';
  return `synchronous_standby_names (${value}) needs ${needed} of ${candidates} standbys, so the old primary can continue without the promoted one${patroni}`;
}

/** True if enough standbys are connected for commits to return. Counts by name if their states are unreadable. */
export function canCommit({ synchronousStandbys, standbys }: Replication): boolean {
  const { needed, names } = parseSynchronousStandbys(synchronousStandbys) ?? { needed: 0, names: [] };
  const isNamed = (name: string) => names.includes('*') || names.includes(lowerCase(name));
  const confirming = standbys.filter(({ name, state }) => (state === null ? isNamed(name) : state !== 'async'));
  return confirming.length >= needed;
}

/** Counts the standbys that can confirm commits, without the primary. Standbys of the same name count separately. */
function countCandidates({ clusterName, standbys }: Replication, names: ReadonlySet<string>): number {
  const connected = standbys.map(({ name }) => lowerCase(name)).filter((name) => names.has(name));
  const self = lowerCase(clusterName);
  const isOwn = self !== '' && names.has(self) && !connected.includes(self);
  return Math.max(names.size - (isOwn ? 1 : 0), connected.length);
}

interface SynchronousStandbys {
  /** Number of standbys that must confirm each commit. */
  readonly needed: number;
  /** Names in lower case, as PostgreSQL compares them; `*` is any standby. */
  readonly names: readonly string[];
}

/** Whitespace as in `syncrep_scanner.l`, where bytes above 0x7f are letters. */
const space = '[ \\t\\n\\r\\f\\v]*';
const letters = '\\w$\\u0080-\\u{10ffff}';
const word = `"(?:[^"]|"")*"|(?!(?:any|first)(?![${letters}]))(?!\\d)[${letters}]+|\\*|\\d+(?![${letters}])`;
const list = `${space}(?:${word})${space}(?:,${space}(?:${word})${space})*`;
const standbys = new RegExp(
  `^(?:${space}(?:(?:any|first)(?![${letters}]))?${space}(\\d+)${space}\\((${list})\\)${space}|(${list}))$`,
  'iu',
);

/** Parses `synchronous_standby_names` as PostgreSQL does. Returns `undefined` if PostgreSQL would reject it. */
export function parseSynchronousStandbys(value: string): SynchronousStandbys | undefined {
  const [, count = '1', counted, plain = ''] = standbys.exec(value) ?? ['', '0'];
  const found = (counted ?? plain).match(new RegExp(word, 'giu')) ?? [];
  const names = found.map((name) => lowerCase(name.replace(/^"|"$/g, '').replaceAll('""', '"')));
  return Number(count) > 0 ? { needed: Number(count), names } : undefined;
}

/** Converts ASCII letters to lower case, as `pg_strcasecmp` does in most locales. */
function lowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
