import { Refusal } from '../contract/errors.ts';
import { surplusName } from '../contract/names.ts';
import type { AccountRecords } from '../storage/lmdb/accounts.ts';
import type { Application, AuditEntry, FeatureDeclaration } from '../storage/lmdb/records.ts';
import { checkPathName } from './checks.ts';
import type { Write } from './store/account-store.ts';
import { LayeredRecords } from './store/layer.ts';

/** Tables whose keys consist of an application id and a name. */
type DeclarationTable = 'features' | 'metrics' | 'codeScans';

export function declarationKey(applicationId: string, name: string): string {
  return `${applicationId} ${name}`;
}

/** Returns a version of an application's declarations. The version changes with every declaration. */
export function declarationsVersion(declared: readonly FeatureDeclaration[]): string {
  return `${declared.length} ${declared.reduce((last, { updatedAt }) => Math.max(last, updatedAt), 0)}`;
}

export function declarationTarget(type: 'feature' | 'metric', { id }: Application, name: string): AuditEntry['target'] {
  return { type, id, name };
}

/** @throws {Refusal} `invalid_name` if the name is not valid in packets and URLs */
export function checkDeclaredName(what: string, name: string): void {
  checkPathName(what, name);
  if (name !== surplusName) return;
  throw new Refusal('invalid_name', reservedName(what));
}

export const reservedName = (what: string) =>
  `The name of ${what} must not be ${surplusName}, which is reserved for items over a limit`;

export function declarationsWith<T>(
  onDisk: ReadonlyMap<string, T>,
  applicationId: string,
  pending: ReadonlyMap<string, T | undefined>,
): ReadonlyMap<string, T> {
  const beginning = declarationKey(applicationId, '');
  const own = new Map<string, T | undefined>();
  for (const [key, declaration] of pending)
    if (key.startsWith(beginning)) own.set(key.slice(beginning.length), declaration);
  if (own.size === 0) return onDisk;
  const get = (name: string) => (own.has(name) ? own.get(name) : onDisk.get(name));
  return new LayeredRecords(onDisk, { get, pending: () => own });
}

/** All declarations, by application and name. */
export class Declarations<Table extends DeclarationTable> {
  readonly #table: Table;
  readonly #complete: (stored: AccountRecords[Table]) => AccountRecords[Table];
  readonly #applications = new Map<string, Map<string, AccountRecords[Table]>>();

  /** @param complete adds fields that records of earlier versions lack */
  constructor(table: Table, complete: (stored: AccountRecords[Table]) => AccountRecords[Table] = (stored) => stored) {
    this.#table = table;
    this.#complete = complete;
  }

  of(applicationId: string): ReadonlyMap<string, AccountRecords[Table]> {
    return this.#applications.get(applicationId) ?? new Map();
  }

  update(writes: readonly Write[]): void {
    for (const { table, key, value } of writes) {
      if (table !== this.#table) continue;
      const space = key.indexOf(' ');
      this.#set(key.slice(0, space), key.slice(space + 1), value as AccountRecords[Table] | undefined);
    }
  }

  #set(applicationId: string, name: string, declaration: AccountRecords[Table] | undefined): void {
    const declared = this.#applications.get(applicationId) ?? new Map<string, AccountRecords[Table]>();
    if (declaration === undefined) declared.delete(name);
    else declared.set(name, this.#complete(declaration));
    if (declared.size === 0) this.#applications.delete(applicationId);
    else this.#applications.set(applicationId, declared);
  }
}
