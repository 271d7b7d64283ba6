import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the licence of an npm package. Uses the first text that exists: the licence file, the licence section of the
 * README, or the package's file in `packaging/licences`.
 * @param folder folder of the package
 * @throws {Error} if no text is found, because the licence must be shipped with the executable
 */
export function licenceText(root: string, folder: string, name: string): string {
  const ours = join(root, 'packaging/licences', `${name.replace('/', '-')}.txt`);
  const text = findFile(folder) ?? findSection(folder) ?? (existsSync(ours) ? read(ours) : undefined);
  if (text !== undefined) return text;
  throw new Error(`${name} is published without its licence text; add it to ${ours}`);
}

function findFile(folder: string): string | undefined {
  const [name] = readdirSync(folder)
    .filter((each) => /^(licen[cs]e|copying)(-[a-z0-9]+)?(\.(md|txt))?$/i.test(each))
    .sort();
  return name === undefined ? undefined : read(join(folder, name));
}

/** Finds the licence section of the README. A section with no text, or only a licence's name, does not count. */
function findSection(folder: string): string | undefined {
  const [name] = readdirSync(folder).filter((each) => /^readme\b/i.test(each));
  if (name === undefined) return undefined;
  const section = read(join(folder, name))
    .split(/^#+ *licen[cs]e\s*$/im)[1]
    ?.split(/^#/m)[0];
  return section?.includes('WITHOUT WARRANTY') ? section.trim() : undefined;
}

function read(file: string): string {
  return readFileSync(file, 'utf8').trim();
}
