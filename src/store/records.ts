/** The domain as it is stored and as the packet path reads it. Times are Unix milliseconds. */

export type KeyType = 'Frontend' | 'Mobile' | 'Backend';
export type Role = 'Admin' | 'User';

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  /** Encoded argon2id hash (PHC string). */
  readonly passwordHash: string;
  readonly createdAt: number;
}

/** A team's OAuth client credentials for the management API. */
export interface ApiKey {
  readonly clientId: string;
  readonly teamId: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the client secret, hex. */
  readonly secretHash: string;
  readonly createdAt: number;
}

export interface Environment {
  readonly name: string;
  /** Never reused: the series and cells of the environment are stored under it. */
  readonly number: number;
  readonly createdAt: number;
}

export interface Application {
  readonly id: string;
  /** Never reused: decides which aggregate worker the application belongs to. */
  readonly number: number;
  readonly teamId: string;
  readonly name: string;
  /** As given; empty: every origin is allowed. */
  readonly allowedOrigins: readonly string[];
  readonly acceptClientIdentities: boolean;
  /** Packets a second and packets at once; `null` takes the server's defaults, 0 is no limit. */
  readonly rate: number | null;
  readonly burst: number | null;
  readonly environments: readonly Environment[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a packet carries. Its text is found by SHA-256; only a browser-safe key's text is kept to be shown again. */
export interface ApplicationKey {
  readonly id: string;
  /** Grows from key to key: the order of a list. */
  readonly number: number;
  readonly applicationId: string;
  readonly type: KeyType;
  readonly name: string;
  /** SHA-256 of the key's text, hex. */
  readonly hash: string;
  /** First characters of the key's text, to recognise it by. */
  readonly prefix: string;
  /** The key's text for Frontend and Mobile keys, which are no secrets; `null` for Backend keys. */
  readonly text: string | null;
  /** When a Backend key was first seen in a packet: it has leaked. `null` when it was not. */
  readonly leakedAt: number | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}
