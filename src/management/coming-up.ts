import type { Directory } from '../accounts/directory.ts';
import { computePhase } from '../accounts/experiments.ts';
import type { ConsolePage } from '../contract/health.ts';
import { expiryDays } from '../contract/health.ts';
import { weightsText } from '../contract/numbers.ts';
import type { ComingUp } from '../contract/shapes/home.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { ApiKey, Application, ApplicationKey, FeatureDeclaration } from '../storage/lmdb/records.ts';
import { consolePath } from './responses.ts';

/** Length of the listed period. It is also the longest notice of `api_key_expiring`, before the expiry of a key. */
const aheadMs = Math.max(...expiryDays) * 86_400_000;
const most = 20;

interface Planned extends Pick<ComingUp, 'kind' | 'sentence'> {
  readonly at: number;
  readonly page: ConsolePage;
}

interface ApplicationPlans {
  readonly application: Application;
  /** Expiring API keys of the team, if the caller may see them. */
  readonly expiring: readonly ApiKey[];
}

/** Lists what is planned for the next 14 days, the earliest first. */
export function listComingUp(directory: Directory, plans: readonly ApplicationPlans[], now: number): ComingUp[] {
  const all = plans.flatMap(({ application, expiring }) => {
    const { id, name } = application;
    const features = [...directory.getFeatures(id).values()];
    const own = [
      ...features.flatMap((feature) => rolloutSteps(application, feature)),
      ...features.flatMap((feature) => experimentEnds(application, feature, now)),
      ...directory.getApplicationKeys(id).flatMap((key) => keyExpiry(key)),
    ];
    return [
      ...own.map((planned) => ({ ...planned, application: { id, name } })),
      ...expiring.map((apiKey) => ({ ...apiKeyExpiry(apiKey), application: null })),
    ];
  });
  return all
    .filter(({ at }) => at > now && at <= now + aheadMs)
    .sort((a, b) => a.at - b.at)
    .slice(0, most)
    .map(({ kind, at, sentence, application, page }) => {
      return { kind, at: timeText(at), sentence, application, link: consolePath(page) };
    });
}

function rolloutSteps({ id, environments: [first] }: Application, { name, rollout, archived }: FeatureDeclaration) {
  if (archived || first === undefined) return [];
  const page = { path: ['apps', id, first.name, 'flag'], query: { name, tab: 'traffic' } };
  return (rollout ?? []).map(({ at, split }): Planned => {
    return { kind: 'rollout_step', at, sentence: `Rollout of ${name} moves to ${weightsText(split)}`, page };
  });
}

function experimentEnds({ id, environments }: Application, { experiments }: FeatureDeclaration, now: number) {
  return (experiments ?? []).flatMap((experiment): Planned[] => {
    const { endAt, name } = experiment;
    const place = environments.find(({ number }) => number === experiment.environment);
    const isOpen = ['planned', 'running'].includes(computePhase(experiment, now));
    if (endAt === null || place === undefined || !isOpen) return [];
    const page = { path: ['apps', id, place.name, 'experiment'], query: { id: experiment.id } };
    return [{ kind: 'experiment_end', at: endAt, sentence: `Experiment ${name} ends`, page }];
  });
}

function keyExpiry({ id, applicationId, name, replaced }: ApplicationKey): Planned[] {
  if (replaced === undefined) return [];
  const page = { path: ['settings', 'application'], query: { app: applicationId, key: id } };
  return [{ kind: 'key_expiry', at: replaced.until, sentence: `Replaced key ${name} expires`, page }];
}

function apiKeyExpiry({ name, teamId, expiresAt = 0 }: ApiKey): Planned {
  const page = { path: ['settings', 'team'], query: { team: teamId } };
  return { kind: 'api_key_expiry', at: expiresAt, sentence: `API key ${name} expires`, page };
}
