import ignore, { type Ignore } from 'ignore';

/** Possible paths of a CODEOWNERS file, in the order of GitHub and GitLab. The first existing file is used. */
export const codeOwnersPlaces = ['.github/CODEOWNERS', '.gitlab/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

/** Rules beyond this limit are ignored. GitHub itself reads up to 3 MB. */
const maxRules = 10_000;
/** Maximum number of owners of a file, and maximum length of an owner's name. */
const maxOwners = 8;
const maxOwnerLength = 100;
const maxPatternLength = 1000;

interface Rule {
  readonly matches: Ignore;
  readonly owners: readonly string[];
}

/**
 * Owners of the files of a repository by its CODEOWNERS file. The last rule that matches a path decides. With GitLab's
 * sections (`[Name]`), the last matching rule of each section decides, and the owners of all sections count.
 *
 * The patterns follow `.gitignore`, with these differences: case matters, `docs/*` does not match files in subfolders
 * of `docs`, brackets are literal, and `!` excludes a path from its section.
 */
export class CodeOwners {
  readonly #sections: readonly (readonly Rule[])[];
  readonly #known = new Map<string, readonly string[]>();

  constructor(text: string) {
    this.#sections = parseSections(text);
  }

  /**
   * Returns up to eight owners; an empty list if no rule matches. @param path from the top of the repository, with `/`
   */
  of(path: string): readonly string[] {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const owners = this.#sections.flatMap(
      (rules) => rules.findLast(({ matches }) => matches.ignores(path))?.owners ?? [],
    );
    const found = [...new Set(owners)].slice(0, maxOwners);
    this.#known.set(path, found);
    return found;
  }
}

/** The head of a section: `[Name]`, `^[Name]` or `[Name][2]`, optionally followed by default owners. */
const sectionHead = /^\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?$/;

function parseSections(text: string): readonly (readonly Rule[])[] {
  const sections = new Map<string, Rule[]>();
  let current = sections.set('', []).get('')!;
  let usual: readonly string[] = [];
  let left = maxRules;
  for (const line of text.split(/\r?\n/)) {
    const [, name, defaults] = sectionHead.exec(line.trim()) ?? [];
    if (name !== undefined) {
      const key = name.toLowerCase();
      current = sections.get(key) ?? sections.set(key, []).get(key)!;
      usual = ownersIn(defaults ?? '');
      continue;
    }
    const rule = parseRule(line, usual);
    if (rule === undefined) continue;
    left -= 1;
    if (left < 0) break;
    current.push(rule);
  }
  return [...sections.values()];
}

/** A rule: a pattern and its owners. The pattern ends at the first space without a backslash before it. */
const ruleLine = /^\s*((?:\\.|[^\s\\])+)(.*)$/;

function parseRule(line: string, usual: readonly string[]): Rule | undefined {
  const [, pattern = '', rest = ''] = ruleLine.exec(line) ?? [];
  if (pattern === '' || pattern.startsWith('#') || pattern.length > maxPatternLength) return undefined;
  if (pattern.startsWith('!')) return { matches: matcher(pattern.slice(1)), owners: [] };
  const owners = ownersIn(rest);
  return { matches: matcher(pattern), owners: owners.length > 0 ? owners : usual };
}

/** Returns the owners in a text: names with `@` and e-mail addresses, up to a comment. */
function ownersIn(text: string): readonly string[] {
  const [named = ''] = text.split(/(?:^|\s)#/);
  const owners = named.split(/\s+/).filter((owner) => owner.includes('@') && owner.length <= maxOwnerLength);
  return owners.slice(0, maxOwners);
}

function matcher(pattern: string): Ignore {
  const literal = pattern.replace(/(?<!\\)[[\]]/g, '\\$&');
  const rules = ignore({ ignorecase: false }).add(literal);
  // Excludes folders. In a .gitignore, `docs/*` also matches folders, and therefore all files in them.
  return /\/\*$/.test(literal) ? rules.add(`!${literal}/`) : rules;
}
