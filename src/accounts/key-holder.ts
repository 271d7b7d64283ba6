import type { Application, ApplicationKey, Environment } from '../storage/lmdb/records.ts';

/** A key with its application, as the packet path needs it. */
export interface KeyHolder {
  readonly key: ApplicationKey;
  readonly application: Application;
  /** The application's environments by name. */
  readonly environments: ReadonlyMap<string, Environment>;
  /** Whether the application's `allowedOrigins` let this `Origin` header through. */
  allowsOrigin(origin: string): boolean;
}
