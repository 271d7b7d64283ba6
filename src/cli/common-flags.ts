import { clientVariables } from '../contract/client-variables.ts';
import { type Field, flag } from './fields.ts';
import { usualUrl } from './server-url.ts';
import { timeForms } from './time.ts';

export const urlFlag = flag('url URL', 'Address of the server', {
  more: `default: ${clientVariables.url}, that of the last login, ${usualUrl}`,
});

export const jsonFlag = flag('json', 'Print JSON instead of text');

export const yesFlag = flag('yes', 'Do not ask for confirmation');

export const formatFlag = flag('format FORMAT', 'Print rows for other programs, without limits', {
  values: ['csv', 'ndjson'],
  excludes: ['json'],
});

export const appFlag = flag('app APP', 'Application: its id or its name', { required: true });

export const teamFlag = flag('team TEAM', 'Team: its id or its name', { more: 'default: your primary team' });

/** The time range of a report. @param usual where it begins by default */
export function rangeFlags(usual: string): readonly [Field, Field] {
  const read: Field['read'] = (text, { time }, name) => time(text, name);
  return [
    flag('from TIME', `Since then: ${timeForms}`, { more: `default: ${usual}`, read }),
    flag('to TIME', 'Before then, in the same forms', { more: 'default: now', read }),
  ];
}
