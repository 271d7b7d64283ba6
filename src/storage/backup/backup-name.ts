const pattern = /^flagmeter-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z\.backup$/;

/** The name of a scheduled backup. Names sort by time. */
export function backupName(at: number): string {
  return `flagmeter-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;
}

/** The time in the name of a backup; `undefined` if it is not the name of one. */
export function timeOfBackup(name: string): number | undefined {
  const [, hour, minute, second] = pattern.exec(name) ?? [];
  if (hour === undefined) return undefined;
  const at = Date.parse(`${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}
