import type { Directory } from '../../accounts/directory.ts';
import type { RandomBytes } from '../../accounts/secrets.ts';
import type { AccountStore } from '../../accounts/store/account-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SigningKeys } from './key-ring.ts';

/** Keys, claims and clock for signing and checking tokens. */
export interface TokenSettings {
  /** `iss` of tokens: the public URL of the auth host. */
  readonly issuer: string;
  /** `aud` of access tokens: the public URL of the management API, under which the console lives. */
  readonly audience: string;
  readonly keys: SigningKeys;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** Services of sessions and their tokens. */
export interface Services extends TokenSettings {
  /** The scope that the management API requires. */
  readonly serviceScope: string;
  readonly accountStore: AccountStore;
  readonly directory: Directory;
}
