import type { Command } from './command.ts';
import { appFlag, jsonFlag, urlFlag, yesFlag } from './common-flags.ts';

export const forgetCommand: Command = {
  name: 'people forget',
  summary: 'Forget an identity: its instance ids and exposures, in every environment',
  operand: { name: 'IDENTITY', description: 'The identity, as it was minted or asserted' },
  flags: [yesFlag, appFlag, urlFlag, jsonFlag],
};
