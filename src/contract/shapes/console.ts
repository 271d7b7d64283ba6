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

/**
 * Response of `GET /console/session`. `user` is `null` without a session. The status is then 200, because browsers log
 * a response with the status 401 as an error.
 */
export interface SignedIn {
  readonly user: SignedInUser | null;
  /** Time at which the session expires if the user is inactive until then. */
  readonly expiresAt: string | null;
}

/**
 * Response of `DELETE /console/session` if the user must also sign out at an identity provider. Otherwise, the response
 * is empty.
 */
export interface SignedOut {
  readonly continueAt: string;
}

export interface SignedInUser extends Pick<User, 'id' | 'name' | 'role' | 'teamRoles'> {
  readonly email: string;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  readonly preferences: Preferences;
}
