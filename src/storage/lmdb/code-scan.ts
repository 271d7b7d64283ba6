/** The last scan of a repository for the names of an application's features. */
export interface CodeScan {
  readonly applicationId: string;
  readonly repository: string;
  readonly revision: string | null;
  /** Template of the address of a line. */
  readonly link: string | null;
  readonly files: number;
  readonly at: number;
  /** The e-mail address of the user, or the name of the API key, that uploaded it. */
  readonly by: string;
  /** The files with features, each with its owners by CODEOWNERS. */
  readonly paths: readonly (readonly [path: string, owners: readonly string[]])[];
  /** The features, each with the number of its places, and the first of them: the index of the path, and the line. */
  readonly features: readonly (readonly [
    name: string,
    count: number,
    places: readonly (readonly [file: number, line: number])[],
  ])[];
  /** Features that only earlier scans found, each with the time of the first scan without it. */
  readonly missing: readonly (readonly [name: string, since: number])[];
}
