import { clientVariables } from '../contract/client-variables.ts';
import { option } from '../contract/shapes/option.ts';
import { usualUrl } from './server-url.ts';

export const urlOption = option('url URL', 'Address of the server', {
  more: `default: ${clientVariables.url}, else the last login, else ${usualUrl}`,
});

export const jsonOption = option('json', 'Print JSON instead of text');

export const yesOption = option('yes', 'Do not ask for confirmation');

export const formatOption = option('format FORMAT', 'Print all rows for other programs', {
  values: ['csv', 'ndjson'],
  excludes: ['json'],
});

export const appOption = option('app APP', 'Application: id or name', {
  more: `default: ${clientVariables.app}, else flagmeter use, else the only application`,
});
