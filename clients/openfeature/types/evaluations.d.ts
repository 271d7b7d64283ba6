/** The fields of a hook's context that the hook reads. */
export interface EvaluatedFlag {
  readonly flagKey: string;
  readonly context: Subject;
}

/** The fields of an evaluation context that the hook reads. */
export interface Subject {
  readonly targetingKey?: string | undefined;
}

/** The fields of the evaluation details that the hook reads. */
export interface Evaluation {
  readonly value: unknown;
  readonly variant?: string | undefined;
}

/** A hook for `OpenFeature.addHooks`, or for the hooks of a client. */
export interface EvaluationHook {
  /** Counts a check of the variant. */
  after(hookContext: EvaluatedFlag, details: Evaluation): void;
  /** Counts a check of the variant `(error)`. */
  error(hookContext: EvaluatedFlag): void;
}

/** Details of a tracking event. */
export interface TrackedEvent {
  /** The used flag. An event without a flag is a metric. */
  readonly flag?: unknown;
  /** The used variant (default: the last variant of the flag for the targeting key, or for any key). */
  readonly variant?: unknown;
  /** The value that is added to the metric (default 1). */
  readonly value?: number | undefined;
}

/** A provider, with the methods that `withTracking` replaces. */
export interface TrackingProvider {
  readonly metadata: object;
  track?(event: string, context: never, details: never): void;
  onClose?(): Promise<void>;
}

/** Counts evaluations and tracking events. None of the functions throws. */
export interface Evaluations {
  readonly hook: EvaluationHook;
  /** Counts a use of the flag in `details.flag`, or adds to the metric that is named after the event. */
  track(event: string, context?: Subject, details?: TrackedEvent): void;
  /**
   * Changes a provider so that it also counts tracking events, and sends all counts when it is closed. Returns the same
   * provider. This is needed because OpenFeature passes tracking events only to providers.
   */
  withTracking<Provider extends TrackingProvider>(provider: Provider): Provider;
}
