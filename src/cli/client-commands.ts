import { clientVariables } from '../contract/client-variables.ts';
import { type } from '../contract/shapes/application-key.ts';
import { flag, valuesOf } from '../contract/shapes/option.ts';
import type { Command } from './command.ts';
import { appFlag, jsonFlag, urlFlag, yesFlag } from './common-flags.ts';

/** The commands that talk to a server, except for those of resources and reports. */

/** For flags of a sign-in that is not by device. */
const notByDevice = { excludes: ['device'] };

export const loginCommand: Command = {
  name: 'login',
  summary: 'Sign in to a server: with a browser here or elsewhere, or as an API key',
  flags: [
    urlFlag,
    flag('auth-url URL', 'Address of its token host, if different', {
      more: 'default: FLAGMETER_AUTH_URL, else the server',
    }),
    flag('client-id ID', 'Sign in as this API key of a team, without a browser', {
      more: clientVariables.clientId,
      ...notByDevice,
    }),
    flag(
      'client-secret-file FILE',
      'File with the secret of the API key on its first line; - is standard input',
      {
        file: true,
        more: `default: ${clientVariables.clientSecret}, else a prompt`,
        ...notByDevice,
      },
    ),
    flag('store', 'Store the secret too, so that the session lasts longer than an hour', notByDevice),
    flag('device', 'Sign in with a browser on another machine, by a code'),
    flag('no-browser', 'Only print the address to open in a browser', notByDevice),
  ],
};

export const logoutCommand: Command = {
  name: 'logout',
  summary: 'Sign out: delete the tokens, and invalidate them on the server',
  flags: [urlFlag],
};

export const whoamiCommand: Command = {
  name: 'whoami',
  summary: 'Show the server that commands use, and the user or API key they act as',
  flags: [urlFlag, jsonFlag],
};

export const adoptCommand: Command = {
  name: 'keys adopt',
  summary: 'Adopt a token of Unleash as a key; standard input has the token on its first line',
  flags: [
    flag('environment NAME', 'Environment that the token stands for', { required: true }),
    flag('type TYPE', 'Type of the key', { required: true, values: valuesOf(type) }),
    flag('name NAME', 'Key name', { more: 'default: Adopted and the type' }),
    ...[appFlag, urlFlag, jsonFlag],
  ],
};

export const forgetCommand: Command = {
  name: 'people forget',
  summary: 'Forget an identity: its instance ids and exposures, in every environment',
  operand: { name: 'IDENTITY', description: 'Identity, as minted or asserted' },
  flags: [yesFlag, appFlag, urlFlag, jsonFlag],
};

const importFormats = ['csv', 'ndjson', 'unleash'] as const;
export type ImportFormat = (typeof importFormats)[number];

export const importCommand: Command = {
  name: 'import',
  summary: 'Import data of the past from a file: an export, or tables of Unleash',
  operand: { name: 'FILE', description: 'File with the counts' },
  flags: [
    flag('format FORMAT', 'Format of the file', { values: importFormats, required: true }),
    flag('environment NAME', 'Environment that gets the counts', { required: true }),
    flag('from-environment NAME', 'Environment in the file; rows of others are left out', {
      more: 'default: the only one in the file',
    }),
    flag('before TIME', 'Time from which on rows are left out: that of a switch-over to flagmeter'),
    flag('variants FILE', 'Table client_metrics_env_variants of Unleash', { file: true }),
    flag('bad-lines FILE', 'New file for the bad lines, to be corrected and imported', {
      file: true,
      excludes: ['variants'],
    }),
    flag('dry-run', 'Only check the file, and report what would be imported'),
    ...[appFlag, urlFlag, jsonFlag],
  ],
};

export const healthCommand: Command = {
  name: 'health',
  summary: 'List what needs attention, the most urgent first',
  flags: [
    flag('app APP', 'Application: id or name', { more: 'default: all applications' }),
    flag('environment NAME', 'Environment name', { more: 'default: all environments' }),
    ...[urlFlag, jsonFlag],
  ],
};

export const scanCommand: Command = {
  name: 'features scan',
  summary: 'Compare the names in a source tree with the features that were seen',
  operand: { name: 'DIR', description: 'Directory with the code' },
  flags: [
    flag('call NAME', 'Function whose first argument is a feature name; repeatable', {
      many: true,
      more: 'default: those of common SDKs, which are always included',
    }),
    flag('fail-if-any', 'Exit with 8 if anything is found'),
    flag('upload', 'Upload the places of features, with their owners by CODEOWNERS'),
    flag('repository NAME', 'Name of the repository in the upload', {
      more: 'default: that of its directory',
    }),
    flag('revision SHA', 'Scanned commit in the upload'),
    flag('link URL', 'Address of a line at the code host, with {revision}, {path} and {line}'),
    flag('sarif', 'Print SARIF 2.1.0, for code hosts and editors', { excludes: ['json'] }),
    ...[appFlag, urlFlag, jsonFlag],
  ],
};

export const cleanupCommand: Command = {
  name: 'features cleanup',
  summary: 'List the features that can go, with evidence, owners and places in the code',
  flags: [
    flag('markdown', 'Print the text of a pull request that removes them', { excludes: ['json'] }),
    ...[appFlag, urlFlag, jsonFlag],
  ],
};

export const completionCommand: Command = {
  name: 'completion',
  summary: 'Print a completion script for a shell',
  operand: { name: 'SHELL', values: ['bash', 'zsh', 'fish'], description: 'bash, zsh or fish' },
  flags: [],
};
