/** The key of what a team says of a feature or metric of an application. */
export function declarationKey(applicationId: string, name: string): string {
  return `${applicationId} ${name}`;
}
