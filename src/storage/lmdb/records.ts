import type { KeyScope } from '../../contract/key-scopes.ts';
import type { Membership, Role } from '../../contract/roles.ts';
import type { ChangedField } from '../../contract/shapes/activity.ts';
import type { PlainKeySettings } from '../../contract/shapes/api-key.ts';
import type { PlainApplicationSettings } from '../../contract/shapes/application.ts';
import type { AuditEntry as ShownEntry } from '../../contract/shapes/audit-entry.ts';
import type { PlainPlanSettings } from '../../contract/shapes/experiment.ts';
import type { ExperimentFigures } from '../../contract/shapes/experiment-figures.ts';
import type { PlainFeatureSettings } from '../../contract/shapes/feature.ts';
import type { LinkPurpose } from '../../contract/shapes/invitation.ts';
import type { Preferences } from '../../contract/shapes/preferences.ts';
import type { PlainClientSettings } from '../../contract/shapes/sign-in-client.ts';
import type { SecondFactorRule } from '../../contract/shapes/sign-in-policy.ts';
import type { NewView } from '../../contract/shapes/view.ts';
import type { Factor } from '../../contract/sign-in.ts';
import type { Tier } from '../../contract/tiers.ts';
import type { VerdictKind } from '../../contract/verdicts.ts';
import type { SentEventType, WebhookEventType } from '../../contract/webhook-events.ts';
import type { WebhookFormat } from '../../contract/webhook-formats.ts';
import type { PublicKey, Trust } from './auth-records.ts';

/** The stored records of teams, users, keys, applications and webhooks. Times are Unix milliseconds. */

export type KeyType = 'Frontend' | 'Mobile' | 'Backend';

export interface Team {
  readonly id: string;
  /** Ascending in order of creation. Lists are sorted by this number. This applies to every `number` in this file. */
  readonly number: number;
  readonly name: string;
  readonly plan: Tier;
  /**
   * The team whose limit on created teams includes this team. It is the team of the creating Admin or API key, or the
   * origin of that team. Absent if an administrator of the installation or an earlier release created this team.
   */
  readonly origin?: string;
  /** Absent if the second factor is `optional`. */
  readonly secondFactor?: SecondFactorRule;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface User extends Membership {
  readonly id: string;
  readonly number: number;
  /** The address as entered. Unique without regard to case. */
  readonly email: string;
  readonly name: string;
  readonly primaryTeam: string;
  /** Encoded argon2id hash (PHC string); `noPasswordHash` for a user without a password. */
  readonly passwordHash: string;
  /**
   * SHA-256 (hex) of the `passwordHash` that the user must replace at the next sign-in. Ignored if the current password
   * hash is different.
   */
  readonly temporaryPasswordId?: string;
  /** Present if the user has an invitation link. */
  readonly invitation?: Invitation;
  /** Times when the user joined teams after `createdAt`, by team id. Absent from records of earlier releases. */
  readonly joinedAt?: Readonly<Record<string, number>>;
  /** Time of the last complete sign-in. Absent before the first sign-in, and from records of earlier releases. */
  readonly lastSignInAt?: number;
  /** Absent until the user changes a preference. A missing field has its default. */
  readonly preferences?: Partial<Preferences>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SignInPolicy {
  readonly secondFactor: SecondFactorRule;
  readonly passwords: 'everyone' | 'break-glass';
  /** The ids of users who can always sign in with a password. The id of a deleted user can remain in the list. */
  readonly breakGlass: readonly string[];
  readonly domains: readonly { readonly domain: string; readonly providerId: string }[];
}

/** A link with which a user chooses a password, or another way to sign in. The link is valid once. */
export interface Invitation {
  /** SHA-256 (hex) of the link's secret. */
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /** Hash of the user's password hash when the link was created, so that a new password invalidates the link. */
  readonly of: string;
  readonly expiresAt: number;
}

/** A team's OAuth client credentials for the management API. */
export interface ApiKey extends PlainKeySettings {
  readonly clientId: string;
  readonly number: number;
  readonly teamId: string;
  /** The role of tokens for this key: the role among its scopes, or Viewer if no scope is a role. */
  readonly role: Role;
  /** Absent from keys of earlier releases. Such a key has the scope of its role. */
  readonly scopes?: readonly KeyScope[];
  /** The ids of the applications that the key is bound to. Absent if the key is valid for the whole team. */
  readonly applications?: readonly string[];
  /** SHA-256 of the client secret, hex; `noSecretHash` if the key does not authenticate by a secret. */
  readonly secretHash: string;
  /** The replaced secret, which is also accepted, up to the time `until`. */
  readonly previousSecret?: { readonly hash: string; readonly until: number };
  /** The keys that can sign the client's assertions (RFC 7523). Absent if the API key has other credentials. */
  readonly publicKeys?: readonly PublicKey[];
  /** The workloads that can use the API key. Absent if the API key has other credentials. */
  readonly trust?: Trust;
  /** Absent if the key never expires, as in earlier releases. */
  readonly expiresAt?: number;
  /** Number of days before the expiry at which the expiry was last announced. Absent before the first announcement. */
  readonly expiryAnnounced?: number;
  /** Time of the last use, at most a few minutes late. Absent if no use was recorded yet. */
  readonly lastUsedAt?: number;
  /** The subject of the workload that last exchanged a token for an access token of this key. */
  readonly lastSubject?: string;
  readonly createdAt: number;
}

/** An application that people sign in to with the code grant (RFC 6749 §2.1), registered by a team. */
export interface OAuthClient extends PlainClientSettings {
  readonly clientId: string;
  readonly number: number;
  /** The team whose members can sign in. `null` for the service's own clients, which are open to all users. */
  readonly teamId: string | null;
  /** SHA-256 of a confidential client's secret, hex; `null` for a public client. */
  readonly secretHash: string | null;
  /** The keys that can sign the assertions of a confidential client that has no secret (RFC 7523). */
  readonly publicKeys?: readonly PublicKey[];
  readonly createdAt: number;
}

/** A team's declaration of a feature. A feature that was only seen in packets has no declaration. */
export interface FeatureDeclaration extends PlainFeatureSettings {
  readonly applicationId: string;
  readonly name: string;
  readonly number: number;
  /** `null` if the feature is not archived, or was archived by a release that did not record this time. */
  readonly archivedAt: number | null;
  /** Time until which the feature's verdict is deferred. */
  readonly snoozedUntil: number | null;
  /** The intended split of users: variants with their weights. */
  readonly split: readonly Weight[] | null;
  /** Time of the last change of `split`. Absent from declarations of earlier releases, and before the first change. */
  readonly splitAt?: number;
  /** The planned steps of a rollout, by time. Absent or `null` without a rollout. */
  readonly rollout?: readonly RolloutStep[] | null;
  /** Absent from records of earlier releases, which have no owners. */
  readonly owners?: readonly FeatureOwner[];
  /** Absent from records of earlier releases, which have no tags. */
  readonly tags?: readonly string[];
  /** The experiments, the oldest first. Absent without experiments. */
  readonly experiments?: readonly Experiment[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * The owner of a flag: a user, a team or a free text. The name of a user or team is the name at the time when the owner
 * was set.
 */
export interface FeatureOwner {
  readonly type: 'user' | 'team' | 'text';
  /** `null` if the owner is a free text. */
  readonly id: string | null;
  readonly name: string;
}

/** A step of a rollout: from this time on, the split replaces the earlier split. */
export interface RolloutStep {
  readonly at: number;
  readonly split: readonly Weight[];
}

export interface FeatureNote {
  readonly id: string;
  /** The time to which the note refers. */
  readonly at: number;
  /** Name of the environment to which the note refers; `null` for all environments. */
  readonly environment: string | null;
  readonly text: string;
  /** The author of the note: the e-mail address of a user, or the name of an API key. */
  readonly by: string;
}

export type MetricKind = 'counter' | 'gauge';

/** A team's declaration of a metric. A metric without a declaration is read as a counter. */
export interface MetricDeclaration {
  readonly applicationId: string;
  readonly name: string;
  readonly number: number;
  readonly kind: MetricKind;
  readonly unit: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A request to remove the usage of a deleted application or environment from disk. */
export interface Deletion {
  /** The application's number, which determines the worker that removes the data. */
  readonly application: number;
  /** Numbers of the environments whose data is removed. */
  readonly environments: readonly number[];
  /** True if the whole application was deleted, including its identities and its ledger. */
  readonly whole: boolean;
  /** The deleted object, in the form of the audit log. */
  readonly target: AuditEntry['target'] & { readonly type: 'application' | 'environment' };
  readonly teamId: string;
  readonly requestedAt: number;
}

export type Actor = Readonly<ShownEntry['actor']>;

/** One entry of the audit log, with the fields that its readers see. An entry is never changed. */
export interface AuditEntry
  extends Readonly<Omit<ShownEntry, 'id' | 'at' | 'actor' | 'target' | 'factors' | 'changes'>> {
  /** Ascending in order of creation. */
  readonly number: number;
  readonly at: number;
  readonly actor: Actor;
  readonly target: Readonly<ShownEntry['target']>;
  readonly factors?: readonly Factor[];
  /** Absent without changes, and from some entries of earlier releases. */
  readonly changes?: readonly ChangedField[];
}

export interface Environment {
  readonly name: string;
  /** The number is never reused, because the series and cells of the environment are stored under it. */
  readonly number: number;
  readonly createdAt: number;
}

export interface Application extends PlainApplicationSettings {
  readonly id: string;
  /** The number is never reused. It determines which worker commits the application's usage. */
  readonly number: number;
  readonly teamId: string;
  readonly environments: readonly Environment[];
  /** The saved views of the console. Absent without views. */
  readonly views?: readonly StoredView[];
  /** The latest revoked keys, the earliest first. Absent before the first recorded revocation. */
  readonly revokedKeys?: readonly RevokedKey[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A view of a page of the console that a user has saved. */
export interface StoredView extends Required<NewView> {
  readonly id: string;
  readonly number: number;
  /** Id of the user or API key that saved the view. The user or API key can be deleted by now. */
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The fields of a revoked key that are kept, to recognise senders that still use the key. */
export interface RevokedKey extends Omit<ApplicationKey, 'applicationId' | 'hash' | 'text'> {
  readonly revokedAt: number;
}

/** A key in packets and reports, found by its SHA-256. Only the text of a browser-safe key is stored. */
export interface ApplicationKey {
  readonly id: string;
  /** Ascending in order of creation. Lists are sorted by this number. */
  readonly number: number;
  readonly applicationId: string;
  readonly type: KeyType;
  readonly name: string;
  /** SHA-256 of the key's text, hex. */
  readonly hash: string;
  /** The first characters of the key's text, by which people recognise the key. */
  readonly prefix: string;
  /** The text of a Frontend or Mobile key, which is public; `null` for a Backend key and for an adopted token. */
  readonly text: string | null;
  /** Name of the environment that an adopted token stands for. Absent from a key of this service. */
  readonly environment?: string;
  /** The replacement of a rotated key, and the time until which the key is still accepted. */
  readonly replaced?: { readonly by: string; readonly until: number };
  /** True if an adopted Backend token looks guessable. Recorded, because the text of the token is not stored. */
  readonly weak?: true;
  /** Time when a Backend key was first seen in a packet, which means that it has leaked; `null` before that. */
  readonly leakedAt: number | null;
  readonly lastUsedAt: number | null;
  /** Absent until a refused message with the key is counted. Earlier releases did not count refused messages. */
  readonly refused?: KeyRefusals;
  readonly createdAt: number;
}

export interface KeyRefusals {
  readonly count: number;
  /** Unix ms. */
  readonly lastAt: number;
  /** Number of refused messages by error code. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** The last scan of a repository for the names of an application's features. */
export interface CodeScan {
  readonly applicationId: string;
  readonly repository: string;
  readonly revision: string | null;
  /** Template for the link to a line of code. */
  readonly link: string | null;
  readonly files: number;
  readonly at: number;
  /** Who uploaded the scan: the e-mail address of a user, or the name of an API key. */
  readonly by: string;
  /** The files with features, each with its owners from CODEOWNERS. */
  readonly paths: readonly (readonly [path: string, owners: readonly string[]])[];
  /** The features, each with its number of places in the code, and its first places: an index in `paths` and a line. */
  readonly features: readonly (readonly [
    name: string,
    count: number,
    places: readonly (readonly [file: number, line: number])[],
  ])[];
  /** Features that only earlier scans found, each with the time of the first scan without the feature. */
  readonly missing: readonly (readonly [name: string, since: number])[];
}

export type Weight = readonly [variant: string, weight: number];

export interface PlannedMetric {
  /** `used`, `viewed` or the name of a declared counter. */
  readonly metric: string;
  /** Direction of improvement. */
  readonly direction: 'up' | 'down';
}

export interface GuardrailMetric extends PlannedMetric {
  /** The tolerated deterioration per check. */
  readonly tolerated: number;
}

/** The plan of an experiment, which a team decides before the experiment starts. */
export interface ExperimentPlan extends PlainPlanSettings {
  /** The number of the environment. */
  readonly environment: number;
  /** `null` if the experiment uses the split of the feature. */
  readonly split: readonly Weight[] | null;
  readonly startAt: number;
  /** `endAt`, `users` or both are present. */
  readonly endAt: number | null;
}

export interface Experiment extends ExperimentPlan {
  readonly id: string;
  /** Ascending in order of creation. */
  readonly number: number;
  /** Who planned the experiment: the e-mail address of a user, or the name of an API key. */
  readonly by: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Present if the experiment was stopped before its planned end. */
  readonly stopped?: { readonly at: number; readonly reason: string };
  /** The result at the end of the plan, or at the stop. The result never changes. Absent before that time. */
  readonly result?: { readonly at: number; readonly figures: ExperimentFigures };
}

export interface WebhookSecret {
  /** The secret: `whsec_` and base64. Stored in plain text, because the service signs with it. */
  readonly text: string;
  /** Time until which this older secret also signs deliveries; `null` for the newest secret. */
  readonly until: number | null;
}

/** A team's subscription to events, sent to an address. */
export interface Webhook {
  readonly id: string;
  readonly number: number;
  readonly teamId: string;
  readonly name: string;
  readonly url: string;
  /** The subscribed events, each with the start of its subscription. */
  readonly events: Readonly<Partial<Record<WebhookEventType, number>>>;
  /** Absent for `standard`, the only format of earlier versions. */
  readonly format?: WebhookFormat;
  /** The key of the project and the type of the issues; only for the format `jira`. */
  readonly project?: string;
  readonly issueType?: string;
  /** The `Authorization` header of requests to an issue tracker; absent if no header is configured. */
  readonly authorization?: string;
  /** The secrets, the newest first; at most two. */
  readonly secrets: readonly WebhookSecret[];
  readonly enabled: boolean;
  /** The reason why the service disabled the webhook: deliveries failed for days, or the response was 410 (`gone`). */
  readonly disabledFor: 'failing' | 'gone' | null;
  /** Time since which no delivery has succeeded; `null` if the last delivery succeeded. */
  readonly failingSince: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface WebhookAttempt {
  readonly at: number;
  /** Duration of the attempt. */
  readonly ms: number;
  /** The status of the response; `null` without a response. */
  readonly status: number | null;
  /** Reason why the attempt failed, for people; `null` if it succeeded. */
  readonly error: string | null;
  /** The beginning of the response's body; absent if it was empty, and in attempts of an earlier version. */
  readonly answer?: string;
}

export interface WebhookDelivery {
  /** The header `webhook-id`: the same for every attempt. */
  readonly id: string;
  /** The number ascends with each delivery of the webhook. */
  readonly number: number;
  readonly webhookId: string;
  readonly type: SentEventType;
  /** The event in the standard format: the exact bytes to sign and send. */
  readonly body: string;
  /** The body of the last attempt, if it was in another format. */
  readonly sent?: string;
  /** The `traceparent` of the request that caused the event, if that request was traced. */
  readonly cause?: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  /** The last attempts, in order of time. */
  readonly latest: readonly WebhookAttempt[];
  readonly createdAt: number;
  /** Time when the event was delivered or its delivery was given up; `null` while the delivery is pending. */
  readonly endedAt: number | null;
}

export interface QueuedDelivery {
  /** Time of the next attempt. */
  readonly due: number;
  /** Number of failed attempts since the delivery was last queued. */
  readonly failed: number;
  /**
   * The node that has claimed the delivery, and the time after which other nodes consider this node dead and can claim
   * the delivery.
   */
  readonly lease: { readonly node: string; readonly until: number } | null;
}

/** The last notification about a lasting condition. A notification is sent once: see `webhooks/watch.ts`. */
export interface WebhookAnnouncement {
  readonly at: number;
  /** The announced verdict of a feature. */
  readonly verdict?: VerdictKind;
}
