import type { Application, ApplicationKey, Environment } from '../storage/lmdb/records.ts';

/** A key with its application, for the packet path. */
export interface KeyHolder {
  readonly key: ApplicationKey;
  readonly application: Application;
  /** The application's environments by name. */
  readonly environments: ReadonlyMap<string, Environment>;
  /** Whether the application's `allowedOrigins` allow this `Origin` header. */
  allowsOrigin(origin: string): boolean;
}
