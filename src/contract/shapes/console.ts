import type { Preferences } from './preferences.ts';
import type { User } from './user.ts';

/** The settings that the server writes into the console's page. */
export interface ConsoleSettings {
  readonly version: string;
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly metricsUrl: string;
  /** HOST:PORT of the gRPC listener. */
  readonly grpcAddress: string;
  /** Retention of buckets, ms. */
  readonly retention: { readonly minutesMs: number; readonly hoursMs: number; readonly daysMs: number };
}

/** The answer of `GET /console/session`. `user` is `null` if nobody is signed in: a browser would log a 401 as an error. */
export interface SignedIn {
  readonly user: SignedInUser | null;
  /** When the session ends unless it is used before. */
  readonly expiresAt: string | null;
}

/** The answer of `DELETE /console/session` to a user who also signs out of an identity provider. Without one it is empty. */
export interface SignedOut {
  readonly continueAt: string;
}

export interface SignedInUser extends Pick<User, 'id' | 'name' | 'role' | 'teamRoles'> {
  readonly email: string;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  readonly preferences: Preferences;
}
