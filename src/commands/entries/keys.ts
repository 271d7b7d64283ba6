import { adoptKey } from '../../cli/adopt-key.ts';
import type { Command, Entry } from '../../cli/command.ts';
import { readArguments, UsageError } from '../../cli/options.ts';
import { resourceEntry } from '../../cli/resource-entry.ts';
import { signingKeys } from './data-directory.ts';

const { summary, commands } = resourceEntry('keys');

export const keys: Entry = {
  summary: `${summary}; adopt tokens`,
  commands: [...commands.map((each) => (each.name === 'keys rotate' ? rotateNamed(each) : each)), adoptKey],
  notes: `
keys adopt reads a token that services already send to Unleash. Only its hash is stored.

keys rotate prints a new key of the same type, name and environment. If the previous one has leaked,
delete it too. While the previous one is valid, another rotation ends it, so the command asks first.
`,
};

/** Adds a hint to an error: in earlier versions, `keys rotate` without a key rotated the signing key. */
function rotateNamed(rotate: Command): Command {
  const known = [...signingKeys.options, ...commands.flatMap(({ options }) => options)];
  return {
    ...rotate,
    async run(argv, terminal) {
      if ([...readArguments(argv, known, rotate.name)].some(({ name }) => name === undefined))
        return rotate.run(argv, terminal);
      throw new UsageError(
        'Cannot use keys rotate without KEY, an application key: flagmeter keys rotate KEY replaces it; flagmeter signing-keys rotate rotates the key that signs tokens',
      );
    },
  };
}
