import { flag } from '../../contract/resources/field.ts';
import type { Command } from '../command.ts';
import { appFlag, jsonFlag, urlFlag } from '../common-flags.ts';

/** `features scan`. */
export const scanCommand: Command = {
  name: 'features scan',
  summary: 'Compare the names in a source tree with those that were seen',
  operand: { name: 'DIR', description: 'The directory with the code' },
  flags: [
    flag('call NAME', 'A function whose first argument is a feature; once for each', {
      many: true,
      more: 'those of common SDKs are known',
    }),
    flag('fail-if-any', 'Exit with 8 if anything is found'),
    flag('sarif', 'Print SARIF 2.1.0, for code hosts and editors', { excludes: ['json'] }),
    ...[appFlag, urlFlag, jsonFlag],
  ],
};
