import { clientVariables } from '../client-variables.ts';
import type { Command } from './command.ts';
import { jsonFlag, urlFlag } from './common-flags.ts';

/** `flagmeter login` */
export const loginCommand: Command = {
  name: 'login',
  summary: 'Sign in to a server: with a browser here or elsewhere, or as an API key',
  flags: [
    urlFlag,
    {
      name: 'auth-url',
      value: 'URL',
      description: 'Address of its token host, when that is another one',
      more: 'default: FLAGMETER_AUTH_URL, else the server',
    },
    {
      name: 'client-id',
      value: 'ID',
      description: 'Sign in as this API key of a team, without a browser',
      more: clientVariables.clientId,
    },
    {
      name: 'client-secret-file',
      value: 'FILE',
      file: true,
      description: 'First line is the secret of the API key; - is standard input',
      more: `default: ${clientVariables.clientSecret}, else it is asked for`,
    },
    { name: 'store', description: 'Keep the secret too, so that the session lasts longer than an hour' },
    { name: 'device', description: 'Sign in with a browser on another machine, by a code' },
    { name: 'no-browser', description: 'Only print the address to open in a browser' },
  ],
};

/** `flagmeter logout` */
export const logoutCommand: Command = {
  name: 'logout',
  summary: 'Sign out: forget the tokens, and make them invalid on the server',
  flags: [urlFlag],
};

/** `flagmeter whoami` */
export const whoamiCommand: Command = {
  name: 'whoami',
  summary: 'Show the server that commands use, and the user or API key they act as',
  flags: [urlFlag, jsonFlag],
};
