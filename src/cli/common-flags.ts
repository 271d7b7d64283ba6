import { clientVariables } from '../client-variables.ts';
import type { Flag } from './command.ts';
import { usualUrl } from './server-url.ts';
import { timeForms } from './time.ts';

/** Says which server is meant. */
export const urlFlag: Flag = {
  name: 'url',
  value: 'URL',
  description: 'Address of the server',
  more: `default: ${clientVariables.url}, that of the last login, ${usualUrl}`,
};

/** For scripts. */
export const jsonFlag: Flag = { name: 'json', description: 'Print JSON instead of text' };

/** Says which application is meant. */
export const appFlag: Flag = {
  name: 'app',
  value: 'APP',
  description: 'Application: its id or its name',
  required: true,
};

/** Says which team is meant. */
export const teamFlag: Flag = {
  name: 'team',
  value: 'TEAM',
  description: 'Team: its id or its name',
  more: 'default: your primary team',
};

/** The beginning and the end of what is reported. @param usual where it begins without them */
export function rangeFlags(usual: string): readonly [Flag, Flag] {
  const from = {
    name: 'from',
    value: 'TIME',
    description: `Since then: ${timeForms}`,
    more: `default: ${usual}`,
  };
  const to = {
    name: 'to',
    value: 'TIME',
    description: 'Before then, in the same forms',
    more: 'default: now',
  };
  return [from, to];
}
