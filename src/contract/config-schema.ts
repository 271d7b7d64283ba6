import Type, { type Static } from 'typebox';
import { access } from './settings/access.ts';
import { limits } from './settings/limits.ts';
import { operation } from './settings/operation.ts';
import { store } from './settings/store.ts';

/**
 * Every setting of the server: its type, default, bounds, and description in the help text and `docs/configuration.md`.
 * `group` is the heading in that file, and `value` the placeholder of the value. `must` completes the message "Cannot
 * use … : must …". `size` allows byte counts such as 64KiB, 5MiB or 1GiB.
 */
const settingsSchema = Type.Object({ ...access, ...store, ...limits, ...operation });

/** Values of the settings. A setting without a default can be missing. */
export type Settings = Static<typeof settingsSchema>;

/** The schema of one setting. It has at most one of `default` and `defaultText`. */
interface SettingSchema {
  readonly type?: 'string' | 'integer' | 'boolean';
  readonly group: string;
  /** Placeholder of the option's value; empty for a switch. */
  readonly value: string;
  readonly description: string;
  readonly default?: string | number | boolean;
  readonly defaultText?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly must?: string;
  readonly size?: true;
  /** Former key of the setting, which is still accepted on the command line, in the environment and in the file. */
  readonly formerly?: string;
}

export interface SettingNames {
  /** Key in the configuration file. */
  readonly key: string;
  /** Name of the option without dashes, such as `max-body`. */
  readonly option: string;
  /** Name of the environment variable, such as `FLAGMETER_MAX_BODY`. */
  readonly variable: string;
}

export interface Setting extends SettingNames {
  readonly key: keyof Settings;
  readonly formerly?: SettingNames;
  readonly schema: SettingSchema;
}

export const settings: readonly Setting[] = Object.entries(settingsSchema.properties).map(([key, property]) => {
  const schema = property as unknown as SettingSchema;
  const { formerly } = schema;
  return { ...deriveNames(key as keyof Settings), ...(formerly && { formerly: deriveNames(formerly) }), schema };
});

function deriveNames<Key extends string>(key: Key) {
  const option = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { key, option, variable: `FLAGMETER_${option.toUpperCase().replaceAll('-', '_')}` };
}

/** The headings of the settings, in order. */
export const groups: readonly string[] = [...new Set(settings.map(({ schema }) => schema.group))];
