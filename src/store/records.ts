/** The domain as it is stored and as the packet path reads it. Times are Unix milliseconds. */

export type KeyType = 'Frontend' | 'Mobile' | 'Backend';
export type Role = 'Admin' | 'User';

/** How much a team may have: see `accounts/plans.ts`. */
export type Plan = 'free' | 'team' | 'enterprise';

export interface Team {
  readonly id: string;
  /** Grows from team to team: the order of a list. The same is true of the numbers below. */
  readonly number: number;
  readonly name: string;
  readonly plan: Plan;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface User {
  readonly id: string;
  readonly number: number;
  /** As given; no two users have the same in lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  /** Encoded argon2id hash (PHC string). */
  readonly passwordHash: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A team's OAuth client credentials for the management API. */
export interface ApiKey {
  readonly clientId: string;
  readonly number: number;
  readonly teamId: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the client secret, hex. */
  readonly secretHash: string;
  readonly createdAt: number;
}

/** An application that people sign in to with the code grant (RFC 6749 §2.1), registered by a team. */
export interface OAuthClient {
  readonly clientId: string;
  readonly number: number;
  /** Only members of the team may sign in to it; `null` for the clients that are part of the service: everybody may. */
  readonly teamId: string | null;
  readonly name: string;
  /** Compared exactly, but for the port of a loopback address (RFC 8252 §7.3). */
  readonly redirectUris: readonly string[];
  /** SHA-256 of a confidential client's secret, hex; `null` for a public client. */
  readonly secretHash: string | null;
  readonly createdAt: number;
}

/** What a team says of a feature; what was only seen in packets has none. */
export interface FeatureDeclaration {
  readonly applicationId: string;
  readonly name: string;
  readonly number: number;
  readonly description: string | null;
  readonly archived: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type MetricKind = 'counter' | 'gauge';

/** What a team says of a metric; without it a metric reads as a counter. */
export interface MetricDeclaration {
  readonly applicationId: string;
  readonly name: string;
  readonly number: number;
  readonly kind: MetricKind;
  readonly unit: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The usage of something deleted that is still to be removed from the disk. */
export interface Deletion {
  /** Of the application, whose worker does it. */
  readonly application: number;
  /** Numbers of the environments whose data goes. */
  readonly environments: readonly number[];
  /** Whether the application itself is gone, and with it what is kept by the application. */
  readonly whole: boolean;
  /** What was deleted, and whose it was, as the audit log names it. */
  readonly target: AuditEntry['target'];
  readonly teamId: string;
  readonly requestedAt: number;
}

/** Who does something. */
export interface Actor {
  readonly type: 'user' | 'api-key' | 'system' | 'anonymous';
  /** A user's id or a client id; empty for the others. */
  readonly id: string;
  /** A user's e-mail address or an API key's name, as it was then. */
  readonly name: string;
  /** Where the request came from; empty when it was none. */
  readonly address: string;
}

/** One line of the audit log: who did what, when, from where. It is never changed. */
export interface AuditEntry {
  /** Grows from entry to entry. */
  readonly number: number;
  readonly at: number;
  readonly actor: Actor;
  /** Such as `application.created`. */
  readonly action: string;
  /** The team that may read the entry; `null`: it concerns the whole service. */
  readonly teamId: string | null;
  /** What it was done to. */
  readonly target: { readonly type: string; readonly id: string; readonly name: string };
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
  /** Packets a second and packets at once; `null` takes the server's defaults, a rate of 0 is no limit. */
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
