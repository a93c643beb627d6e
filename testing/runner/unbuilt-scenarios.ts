import { missingTools } from '../../e2e/tools/resolve.ts';

/**
 * The programs of scenarios that take longer to build than the scenario, and that nothing else needs. The tests do not build them: such a
 * scenario is run where its programs are there, after all others, and by itself everywhere.
 */
export const ownPrograms: Readonly<Record<string, readonly string[]>> = {
  flux: ['source-controller', 'kustomize-controller'],
};

/** Scenarios whose own programs are still to be built on this machine. */
export async function unbuiltScenarios(
  missing: (names: readonly string[]) => Promise<readonly string[]> = missingTools,
): Promise<readonly string[]> {
  const unbuilt: string[] = [];
  for (const [scenario, programs] of Object.entries(ownPrograms))
    if ((await missing(programs)).length > 0) unbuilt.push(scenario);
  return unbuilt;
}

/** Says which scenarios are left out for that reason, and which command builds their programs. */
export function unbuiltNote(scenarios: readonly string[]): string {
  const programs = scenarios.flatMap((scenario) => ownPrograms[scenario] ?? []);
  return `SCENARIOS LEFT OUT WHOSE PROGRAMS ARE NOT BUILT: ${scenarios.join(', ')}: node e2e/tools/main.ts ${programs.join(' ')}`;
}
