import { clientVariables } from '../contract/client-variables.ts';
import { flag } from '../contract/shapes/option.ts';
import { usualUrl } from './server-url.ts';

export const urlFlag = flag('url URL', 'Address of the server', {
  more: `default: ${clientVariables.url}, else the last login, else ${usualUrl}`,
});

export const jsonFlag = flag('json', 'Print JSON instead of text');

export const yesFlag = flag('yes', 'Do not ask for confirmation');

export const formatFlag = flag('format FORMAT', 'Print all rows for other programs', {
  values: ['csv', 'ndjson'],
  excludes: ['json'],
});

export const appFlag = flag('app APP', 'Application: id or name', { required: true });
