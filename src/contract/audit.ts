/** Kinds of things in the audit log, and the actions on each kind. */
interface AuditedActions {
  application: 'created' | 'changed' | 'deleted' | 'erased';
  environment: 'created' | 'imported' | 'deleted' | 'erased';
  key: 'created' | 'rotated' | 'deleted' | 'leaked';
  experiment: 'planned' | 'changed' | 'stopped' | 'finished' | 'deleted';
  feature: 'declared' | 'changed' | 'deleted' | 'noted' | 'note-deleted';
  'code-scan': 'uploaded' | 'deleted';
  metric: 'declared' | 'changed' | 'deleted';
  identity: 'forgotten' | 'linked' | 'unlinked';
  team: 'created' | 'changed' | 'deleted';
  member: 'added' | 'removed' | 'kept' | 'not-added';
  user: 'created' | 'changed' | 'password-changed' | 'deleted';
  'api-key': 'created' | 'changed' | 'secret-rotated' | 'deleted';
  passkey: 'added' | 'renamed' | 'removed' | 'refused';
  invitation: 'created' | 'withdrawn' | 'accepted';
  'reset-link': 'created' | 'withdrawn' | 'accepted';
  'sign-in-client': 'created' | 'deleted';
  webhook: 'created' | 'changed' | 'deleted' | 'secret-rotated' | 'tested' | 'redelivered' | 'disabled';
  'sign-in': 'started' | 'succeeded' | 'failed' | 'refused';
  'sign-in-policy': 'changed';
  totp: 'added' | 'removed';
  'recovery-code': 'used';
  'recovery-codes': 'regenerated';
  session: 'ended';
  'identity-provider': 'created' | 'changed' | 'deleted' | 'tested';
  token: 'invalidated';
  'refresh-token': 'reused';
  'authorization-code': 'reused';
  device: 'allowed';
  'signing-key': 'rotated';
  engine: 'changes-lost';
}

export const auditedThings: Readonly<Record<keyof AuditedActions, string>> = {
  application: 'Applications',
  environment: 'Environments',
  key: 'Application keys',
  experiment: 'Experiments',
  feature: 'Flags',
  'code-scan': 'Code scans',
  metric: 'Metrics',
  identity: 'Identities',
  team: 'Teams',
  member: 'Members',
  user: 'Users',
  passkey: 'Passkeys',
  invitation: 'Invitations',
  'reset-link': 'Reset links',
  'api-key': 'API keys',
  'sign-in-client': 'Sign-in clients',
  webhook: 'Webhooks',
  'sign-in': 'Sign-ins',
  'sign-in-policy': 'Sign-in policy',
  totp: 'Authenticator apps',
  'recovery-code': 'Used recovery codes',
  'recovery-codes': 'New recovery codes',
  session: 'Ended sessions',
  'identity-provider': 'Identity providers',
  token: 'Invalidated tokens',
  'refresh-token': 'Reused refresh tokens',
  'authorization-code': 'Reused codes',
  device: 'Allowed devices',
  'signing-key': 'Signing keys',
  engine: 'Lost changes',
};

/** An action of the audit log, such as `application.created`. */
export type AuditAction = {
  [Thing in keyof AuditedActions]: `${Thing}.${AuditedActions[Thing]}`;
}[keyof AuditedActions];

export const actorTypes = ['user', 'api-key', 'system', 'anonymous'] as const;

export type ActorType = (typeof actorTypes)[number];
