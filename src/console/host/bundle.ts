/** The console as `scripts/build/console.ts` leaves it: it crosses into the executable as JSON. */
export interface ConsoleBundle {
  /** Name of the script that starts it. */
  readonly script: string;
  /** Name of its style sheet. */
  readonly style: string;
  readonly files: readonly BundledFile[];
}

export interface BundledFile {
  /** With a hash of the content. */
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  /** Base64. */
  readonly gzip: string;
  readonly brotli: string;
}
