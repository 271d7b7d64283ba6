/**
 * Runs a plan with a load generator in a separate process, which is the same for every target.
 * @param script a file that calls `generateHere`
 * @throws {Error} if the generator fails
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

/** Runs the plan from standard input, and prints the report. */
export async function generateHere<Plan>(drive: (plan: Plan) => Promise<object>): Promise<never> {
  const report = await drive((await Bun.stdin.json()) as Plan);
  await Bun.write(Bun.stdout, JSON.stringify(report));
  process.exit(0);
}
