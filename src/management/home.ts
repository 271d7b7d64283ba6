import { healthKinds } from '../contract/health.ts';
import type { Health } from '../contract/shapes/health.ts';
import { Home, type HomeApplication, type HomeItem } from '../contract/shapes/home.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { ok } from '../http/responses.ts';
import { type ApplicationMessages, hoursShown } from '../reports/home-report.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { ApiKey, Application } from '../storage/lmdb/records.ts';
import { visibleTo } from './access.ts';
import { listComingUp } from './coming-up.ts';
import { endpoint, type Group } from './endpoint.ts';
import { accountFindings, computeHealth, incomplete } from './health.ts';

/** Maximum numbers of applications and items in the response. */
const most = { applications: 500, items: 200 };

/** `/api/v2/home`. */
export const home: Group = {
  tag: 'Home',
  description: 'All applications at a glance.',
  endpoints: [
    endpoint('GET /home', {
      access: { within: 'service', least: 'Viewer', bound: true },
      operationId: 'readHome',
      summary: 'Read the state of all applications of your teams',
      description:
        'The counts of messages of the last 24 hours are at most a few seconds old. Flags are judged in the background, so the first response can lack the verdicts: see `complete`.',
      responses: { 200: jsonResponse(Home, 'The applications, and the findings that need attention.') },
      refuses: { backpressure: tooManyReports },
      async handle({ directory, caller }, { findings, teamFigures }) {
        const all = visibleTo(caller, directory).sort((a, b) => (a.name < b.name ? -1 : 1));
        const shown = all.slice(0, most.applications);
        const messages = await teamFigures.of(shown);
        const now = directory.clock.now();
        const checked = shown.map((application, index) => {
          const computed = findings.latest(application);
          const isFirst = shown.findIndex(({ teamId }) => teamId === application.teamId) === index;
          const accounts = accountFindings(directory, application, caller);
          // Findings about the team are reported with its first application only.
          const expiring = isFirst ? accounts.expiring : [];
          const facts = { application, only: undefined, now, ...accounts, ...(computed ?? incomplete), expiring };
          const isComplete = computed !== undefined;
          return { application, health: computeHealth(facts), isComplete, leaked: accounts.leaked.length, expiring };
        });
        const items = listItems(checked);
        return ok({
          at: timeText(now),
          complete: checked.every(({ isComplete }) => isComplete),
          items: items.slice(0, most.items),
          itemsLeftOut: Math.max(0, items.length - most.items),
          comingUp: listComingUp(directory, checked, now),
          applications: checked.map((each) => show(each, messages.get(each.application.id), now)),
          applicationsLeftOut: all.length - shown.length,
        });
      },
    }),
  ],
};

interface ApplicationCheck {
  readonly application: Application;
  readonly health: Health;
  readonly isComplete: boolean;
  readonly leaked: number;
  readonly expiring: readonly ApiKey[];
}

/** Lists findings, the most urgent kinds first. */
function listItems(checked: readonly ApplicationCheck[]): HomeItem[] {
  const items = checked.flatMap(({ application: { id, name }, health }) =>
    health.items.map((item) => {
      const isOfTeam = item.kind === 'api_key_expiring';
      return { ...item, application: isOfTeam ? null : { id, name } };
    }),
  );
  return items.sort((a, b) => healthKinds.indexOf(a.kind) - healthKinds.indexOf(b.kind));
}

function show(
  { application, health, isComplete, leaked }: ApplicationCheck,
  messages: ApplicationMessages | undefined,
  now: number,
): HomeApplication {
  const { hours, rate } = messages ?? { hours: [], rate: { perSecond: 0, overSeconds: 0 } };
  const accepted = hours.map((hour) => hour.accepted);
  const refused = hours.map((hour) => hour.refused);
  const sum = (counts: readonly number[]) => counts.reduce((total, each) => total + each, 0);
  const lastAt = Math.max(0, ...hours.map((hour) => hour.lastAt));
  const canGo = health.items.find(({ kind }) => kind === 'flags_can_go')?.count ?? 0;
  return {
    id: application.id,
    name: application.name,
    environments: application.environments.map(({ name }) => name),
    status: isComplete || health.status !== 'ok' ? health.status : 'unknown',
    accepted: sum(accepted),
    refused: sum(refused),
    hourly: { start: (Math.floor(now / 3_600_000) - hoursShown + 1) * 3600, accepted, refused },
    rate,
    lastReceivedAt: lastAt > 0 ? timeText(lastAt) : health.lastReceivedAt,
    flags: isComplete ? health.flags : null,
    flagsThatCanGo: isComplete ? canGo : null,
    leakedKeys: leaked,
  };
}
