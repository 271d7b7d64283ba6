import { messageOf } from '../api/problem.ts';

export interface ReasonProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** Why a part of a page cannot be shown, or something was not done. */
export function Reason({ error, onRetry }: ReasonProps) {
  if (error === undefined) return null;
  return (
    <p class="actions bad" role="alert">
      {messageOf(error)}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}
