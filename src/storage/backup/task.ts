/** A task of the backup thread. */
export interface Tasks {
  /** Finds the time of the latest backup. */
  readonly latest: object;
  /** Makes a backup, and removes the oldest ones beyond the number to keep. `at` is the time in its name, Unix ms. */
  readonly backup: { readonly at: number };
}

export type Task<Name extends keyof Tasks = keyof Tasks> = {
  [Each in Name]: { readonly name: Each } & Tasks[Each];
}[Name];

/** The result. */
export interface Made {
  /** Unix ms; `undefined` without backups. */
  readonly latest: number | undefined;
  readonly backup: {
    readonly name: string;
    readonly bytes: number;
    /** Number of older backups that were removed. */
    readonly removed: number;
    /** Why an older backup was not removed, for people; empty if all were. */
    readonly unremoved: string;
  };
}

/** The destination and number of backups. */
export interface Keeping {
  readonly data: string;
  /** A directory, or `s3://BUCKET/PREFIX`. */
  readonly to: string;
  readonly keep: number;
  readonly s3: S3Settings;
  /** Path of the key file for MACs. It is read for each backup, so a new key needs no restart. */
  readonly keyFile: string | undefined;
}

export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Path of a credentials file. Without it, they come from the environment. */
  readonly credentials: string | undefined;
}
