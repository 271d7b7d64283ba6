import { environmentAddress } from '../../address.ts';
import { withQuery } from '../../api/client.ts';
import { keptChoice } from './kept-choice.ts';
import { type Source, sources } from './sources.ts';
import type { Target } from './target.ts';

interface ChooseSourceProps {
  readonly app: string;
  readonly env: string;
  readonly chosen?: Source | undefined;
}

/** What an application may already use. Each leads to its steps. */
export function ChooseSource({ app, env, chosen }: ChooseSourceProps) {
  const kept = keptChoice({ application: app, environment: env });
  return (
    <ul class="plain-list connect-sources">
      {sources.map(({ id, label, hint }) => (
        <li key={id}>
          <a
            href={withQuery(
              environmentAddress(app, env, 'connect'),
              id === kept?.use ? { ...kept } : { use: id },
            )}
            aria-current={id === chosen?.id}
          >
            <strong>{label}</strong>
            <span class="hint">{hint}</span>
            {chosen === undefined && id === kept?.use && <span class="hint">Continue with the steps.</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

interface ChooseTargetProps {
  readonly source: Source;
  readonly chosen: Target;
  readonly onChoose: (id: string) => void;
}

/** The proxies, programs or languages of a source. */
export function ChooseTarget({ source: { choice, targets }, chosen, onChoose }: ChooseTargetProps) {
  return (
    <fieldset class="actions connect-targets">
      <legend>{choice}</legend>
      {targets.map(({ id, label }) => (
        <button key={id} type="button" aria-pressed={id === chosen.id} onClick={() => onChoose(id)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}
