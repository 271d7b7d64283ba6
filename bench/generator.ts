/**
 * Has a load generator carry out a plan in a process of its own, so that it is the same whatever it drives.
 * @param script a file that calls `generateHere` when it is run
 * @throws {Error} when the generator fails
 */
export async function generate<Report>(script: string, plan: object): Promise<Report> {
  const generator = Bun.spawn([process.execPath, script], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [report, code] = await Promise.all([new Response(generator.stdout).text(), generator.exited]);
  if (code !== 0) throw new Error(`the load generator failed with exit code ${code}`);
  return JSON.parse(report) as Report;
}

/** Carries out the plan that comes on standard input, and prints the report. */
export async function generateHere<Plan>(drive: (plan: Plan) => Promise<object>): Promise<never> {
  const report = await drive((await Bun.stdin.json()) as Plan);
  await Bun.write(Bun.stdout, JSON.stringify(report));
  process.exit(0);
}
