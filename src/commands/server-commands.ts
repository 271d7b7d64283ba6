import type { Command, Flag } from '../cli/command.ts';
import { jsonFlag } from '../cli/common-flags.ts';
import { type Setting, settings } from '../config-schema.ts';

/** `flagmeter serve` */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the server; on an empty data directory it prepares it as init does',
  flags: settings.map(flagOf),
};

function flagOf({ flag: name, schema }: Setting): Flag {
  const { value, description, enum: values } = schema;
  const isFile = value === 'FILE' || value === 'DIR';
  return {
    name,
    ...(value && { value }),
    description,
    ...(values && { values }),
    ...(isFile && { file: true }),
  };
}

/** The flags that say where a data directory is. */
const dataFlags: readonly Flag[] = [
  {
    name: 'data',
    value: 'DIR',
    file: true,
    description: 'Data directory',
    more: 'default: ./flagmeter-data, FLAGMETER_DATA',
  },
  {
    name: 'config',
    value: 'FILE',
    file: true,
    description: 'JSON file that may name the data directory',
    more: 'FLAGMETER_CONFIG',
  },
];

/** `flagmeter init` */
export const initCommand: Command = {
  name: 'init',
  summary: 'Prepare a data directory; print its first administrator and API key, once',
  flags: [
    {
      name: 'admin-email',
      value: 'EMAIL',
      required: true,
      description: 'E-mail address that the administrator signs in with',
    },
    ...dataFlags,
    {
      name: 'admin-password-file',
      value: 'FILE',
      file: true,
      description: 'First line is the password, 12 characters or more; - is standard input',
      more: 'default: a password is made and printed',
    },
    jsonFlag,
  ],
};

/** `flagmeter admin reset-password` */
export const resetPasswordCommand: Command = {
  name: 'admin reset-password',
  summary: 'Give a user another password and end their sessions, on this machine',
  flags: [
    {
      name: 'email',
      value: 'EMAIL',
      required: true,
      description: 'E-mail address of the user',
    },
    ...dataFlags,
    {
      name: 'password-file',
      value: 'FILE',
      file: true,
      description: 'First line is the password, 12 characters or more; - is standard input',
      more: 'default: a password is made and printed',
    },
    jsonFlag,
  ],
};

/** `flagmeter keys rotate` */
export const rotateCommand: Command = {
  name: 'keys rotate',
  summary: 'Make a new key that signs tokens, on this machine',
  flags: [...dataFlags, jsonFlag],
};

/** `flagmeter verify` */
export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Check the files of a data directory for damage',
  flags: dataFlags,
};
