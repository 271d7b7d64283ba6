interface ProgramEntries<Entry> {
  readonly name: string;
  readonly lastAt: string;
  readonly entries: readonly Entry[];
}

/** Groups entries by program. The program of the latest entry comes first. */
export function byProgram<Entry extends { readonly lastAt: string }>(
  entries: readonly Entry[],
  getName: (entry: Entry) => string,
): ProgramEntries<Entry>[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries.toSorted((a, b) => (a.lastAt < b.lastAt ? 1 : -1))) {
    const name = getName(entry);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [entry]);
    else group.push(entry);
  }
  return Array.from(groups, ([name, group]) => ({ name, lastAt: group[0]!.lastAt, entries: group }));
}
