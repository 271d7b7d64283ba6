/** A value of `synchronous_standby_names`. */
export interface SynchronousStandbys {
  /** Standbys that confirm each commit. */
  readonly needed: number;
  /** In lower case, since PostgreSQL compares them so; `*` is any standby. */
  readonly names: readonly string[];
}

type Token = { readonly kind: 'name' | 'number' | 'mark'; readonly text: string; readonly isQuoted: boolean };

/** As `syncrep_scanner.l` has it. Bytes above 0x7f are letters there. */
const tokens =
  /[ \t\n\r\f\v]*(?:"((?:[^"]|"")*)"|([A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*|\*)|(\d+)|([(),]))/uy;

/** Parses `synchronous_standby_names` as PostgreSQL does. Returns undefined for what PostgreSQL would refuse. */
export function parseSynchronousStandbys(value: string): SynchronousStandbys | undefined {
  const all = tokensOf(value.replace(/[ \t\n\r\f\v]+$/, ''));
  if (all === undefined) return undefined;
  const [first, second] = all;
  const method = first?.kind === 'name' && !first.isQuoted ? first.text.toLowerCase() : '';
  if ((method === 'any' || method === 'first') && second?.kind === 'number') return counted(all.slice(1));
  if (first?.kind === 'number' && second?.text === '(' && !second.isQuoted) return counted(all);
  const names = namesOf(all);
  return names && { needed: 1, names };
}

function counted([count, open, ...rest]: readonly Token[]): SynchronousStandbys | undefined {
  const needed = Number(count!.text);
  const isClosed = open?.text === '(' && rest.at(-1)?.kind === 'mark' && rest.at(-1)?.text === ')';
  const names = isClosed ? namesOf(rest.slice(0, -1)) : undefined;
  return names && needed > 0 ? { needed, names } : undefined;
}

/** Names with commas between them. A number is a name, too; `ANY` and `FIRST` are not, unless quoted. */
function namesOf(list: readonly Token[]): string[] | undefined {
  const isList =
    list.length % 2 === 1 &&
    list.every(({ kind, text }, at) => (at % 2 === 0 ? kind !== 'mark' : kind === 'mark' && text === ','));
  const isKeyword = ({ isQuoted, text }: Token) => !isQuoted && /^(?:any|first)$/i.test(text);
  if (!isList || list.some(isKeyword)) return undefined;
  return list.filter((_, at) => at % 2 === 0).map(({ text }) => lowerCase(text));
}

/** ASCII only, as `pg_strcasecmp` in most locales. */
export function lowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function tokensOf(value: string): Token[] | undefined {
  const found: Token[] = [];
  for (let at = 0; at < value.length; at = tokens.lastIndex) {
    tokens.lastIndex = at;
    const match = tokens.exec(value);
    if (match === null) return undefined;
    const [, quoted, name, number, mark] = match;
    if (quoted !== undefined)
      found.push({ kind: 'name', text: quoted.replaceAll('""', '"'), isQuoted: true });
    else if (name !== undefined) found.push({ kind: 'name', text: name, isQuoted: false });
    else if (number !== undefined) found.push({ kind: 'number', text: number, isQuoted: false });
    else found.push({ kind: 'mark', text: mark!, isQuoted: false });
  }
  return found;
}
