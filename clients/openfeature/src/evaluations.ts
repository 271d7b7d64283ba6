import { countBytes, safely } from '../../../src/ingest/snippet/counts.ts';
import type { Sender } from '../../../src/ingest/snippet/declarations.d.ts';
import type { Evaluation, Evaluations, Subject, TrackedEvent, TrackingProvider } from '../types/evaluations.d.ts';

/** Minimum number of pairs of flag and targeting key whose last variant is kept. The maximum is twice as high. */
const maxRemembered = 10_000;

/** Maximum length of a variant's name, in bytes of UTF-8. */
const longestName = 256;

/**
 * Returns the hook and the tracking handler of a sender.
 * @param onUser receives the targeting key of each evaluation and use
 */
export function countEvaluations(
  sender: Pick<Sender, 'checked' | 'used' | 'add' | 'flush'>,
  onUser?: (flag: string, targetingKey: string) => void,
): Evaluations {
  const last = new LastVariants();
  const counted = new WeakSet<object>();
  const tracking = new WeakSet<object>();

  const seen = (flag: string, subject: Subject | null | undefined) => {
    const targetingKey = textIn(subject?.targetingKey);
    if (targetingKey !== undefined) onUser?.(flag, targetingKey);
  };

  const track = safely((event: string, context?: Subject | null, details?: TrackedEvent | null) => {
    const { flag, variant, value } = details ?? {};
    if (typeof flag !== 'string') return sender.add(event, value);
    sender.used(flag, textIn(variant) ?? last.of(flag, context?.targetingKey) ?? 'enabled');
    seen(flag, context);
  });

  return {
    hook: {
      after: safely((hookContext, details) => {
        const { flagKey, context } = hookContext;
        const variant = readVariant(details);
        counted.add(hookContext);
        sender.checked(flagKey, variant);
        seen(flagKey, context);
        last.keep(flagKey, context?.targetingKey, variant);
      }),
      // OpenFeature calls `error` also when the `after` of another hook fails. The evaluation is then already counted.
      error: safely((hookContext) => {
        if (!counted.has(hookContext)) sender.checked(hookContext.flagKey, '(error)');
      }),
    },
    track,
    withTracking(provider) {
      safely(() => {
        if (!tracking.has(provider)) extend(provider, track, sender.flush);
        tracking.add(provider);
      })();
      return provider;
    },
  };
}

/** Replaces methods of the provider itself, because a provider with private fields does not work through a proxy. */
function extend(provider: TrackingProvider, track: Evaluations['track'], flush: Sender['flush']): void {
  const { track: ownTrack, onClose } = provider;
  provider.track = (event, context, details) => {
    track(event, context, details);
    ownTrack?.call(provider, event, context, details);
  };
  provider.onClose = async () => {
    try {
      await onClose?.call(provider);
    } finally {
      await flush();
    }
  };
}

/**
 * Returns the variant. If there is no variant, returns the value if it can be a name. The server reads OpenTelemetry
 * events in the same way.
 */
function readVariant({ variant, value }: Evaluation): string {
  if (variant) return variant;
  if (typeof value === 'boolean') return value ? 'enabled' : 'disabled';
  const text = typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
  return text && countBytes(text) <= longestName && !/[\p{Cc}\p{Cs}]/u.test(text) ? text : '(value)';
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The most recent variants. They are in two maps, because deleting the oldest entry of a single map for each new entry
 * would be slow.
 */
class LastVariants {
  #recent = new Map<string, string>();
  #older = new Map<string, string>();

  keep(flag: string, targetingKey: string | undefined, variant: string): void {
    if (this.#recent.size >= maxRemembered) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(formatId(flag, targetingKey), variant);
    this.#recent.set(formatId(flag), variant);
  }

  /** Returns the last variant of a targeting key. If the key is unknown, returns the last variant of any key. */
  of(flag: string, targetingKey: string | undefined): string | undefined {
    return this.#find(formatId(flag, targetingKey)) ?? this.#find(formatId(flag));
  }

  #find(id: string): string | undefined {
    return this.#recent.get(id) ?? this.#older.get(id);
  }
}

function formatId(flag: string, targetingKey?: string): string {
  return JSON.stringify([flag, targetingKey]);
}
