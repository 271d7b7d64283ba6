import { clientVariables } from '../client-variables.ts';
import type { Flag } from './command.ts';
import { usualUrl } from './server-url.ts';

/** Says which server is meant. */
export const urlFlag: Flag = {
  name: 'url',
  value: 'URL',
  description: 'Address of the server',
  more: `default: ${clientVariables.url}, that of the last login, ${usualUrl}`,
};

/** For scripts. */
export const jsonFlag: Flag = { name: 'json', description: 'Print JSON instead of text' };
