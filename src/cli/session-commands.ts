import { clientVariables } from '../contract/client-variables.ts';
import { flag } from '../contract/resources/field.ts';
import type { Command } from './command.ts';
import { jsonFlag, urlFlag } from './common-flags.ts';

/** For flags of a sign-in that is not by device. */
const notByDevice = { excludes: ['device'] };

export const loginCommand: Command = {
  name: 'login',
  summary: 'Sign in to a server: with a browser here or elsewhere, or as an API key',
  flags: [
    urlFlag,
    flag('auth-url URL', 'Address of its token host, when that is another one', {
      more: 'default: FLAGMETER_AUTH_URL, else the server',
    }),
    flag('client-id ID', 'Sign in as this API key of a team, without a browser', {
      more: clientVariables.clientId,
      ...notByDevice,
    }),
    flag('client-secret-file FILE', 'First line is the secret of the API key; - is standard input', {
      file: true,
      more: `default: ${clientVariables.clientSecret}, else you are asked for it`,
      ...notByDevice,
    }),
    flag('store', 'Keep the secret too, so that the session lasts longer than an hour', notByDevice),
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
