import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { disposeOnSignals } from '../cluster/dispose-on-signals.ts';
import { removeHarness } from '../cluster/remove-harness.ts';
import { measuredCommit } from '../framework/measured-commit.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import { kubernetesReleases } from '../tools/kubernetes-releases.ts';
import type { KubernetesRelease } from '../tools/kubernetes-releases.ts';
import { toolPins } from '../tools/pins.ts';
import { missingTools, resolveTools } from '../tools/resolve.ts';
import { chosenMinors } from './chosen-minors.ts';
import type { MinorResult } from './minor-result.ts';
import { minorsPage } from './reference-page.ts';
import { readMinorResults, recordMinor } from './results-file.ts';
import { runMinor } from './run-minor.ts';

const usage = `usage: npm run minors [-- options]
Runs a tenant of each pinned minor of Kubernetes on this machine, one after the other, on one management cluster: with a worker of
the same minor and a pod that calls the API server, also while the control plane is upgraded to the next minor.
  --minors <list>  such as 1.30,1.31; default: all. Programs that are missing are downloaded, or built, which takes ten minutes of two
                   processors for each minor
  --record         keep the results in e2e/minors/results.json, and write docs/reference/minors.md
  --name <name>    of the harness; default: minors`;

const started = performance.now();

function tell(step: string, detail = ''): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
}

const options = {
  minors: { type: 'string' },
  record: { type: 'boolean', default: false },
  name: { type: 'string', default: 'minors' },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

const page = path.join(import.meta.dirname, '..', '..', 'docs', 'reference', 'minors.md');

/** Kubernetes' own programs of a release. */
function programsOf({ version, minor }: KubernetesRelease): readonly string[] {
  const pins = toolPins({ kubernetes: version });
  return pins.filter(({ source }) => source.folder === `kubernetes-${minor}`).map(({ name }) => name);
}

/** What a release is upgraded to, or why it is not. Programs are not built for an upgrade alone. */
async function nextOf(
  { version }: KubernetesRelease,
  chosen: readonly KubernetesRelease[],
): Promise<KubernetesRelease | string> {
  const next = kubernetesReleases[kubernetesReleases.findIndex((each) => each.version === version) - 1];
  if (next === undefined) return 'the newest minor';
  if (chosen.includes(next)) return next;
  const missing = await missingTools(programsOf(next), { kubernetes: next.version });
  return missing.length === 0 ? next : `the programs of ${next.version} were not there`;
}

async function main(values: Values): Promise<readonly MinorResult[]> {
  const chosen = chosenMinors(values.minors);
  const commit = await measuredCommit();
  const progress = (line: string): void => {
    tell('programs', line);
  };
  // Building takes long: before anything runs.
  for (const release of chosen) await resolveTools(programsOf(release), { kubernetes: release.version, progress });
  const stop = new AbortController();
  // By name: a signal may come while the cluster is half-made.
  const signals = disposeOnSignals({
    async [Symbol.asyncDispose]() {
      tell('stopping', 'removing everything');
      stop.abort();
      await removeHarness(values.name);
    },
  });
  const results: MinorResult[] = [];
  try {
    await using steward = await startStewardCluster(values.name, tell);
    const { cluster } = steward;
    for (const release of chosen) {
      const next = await nextOf(release, chosen);
      const found = await runMinor({ cluster, release, next, progress: tell });
      // What fails because everything is removed says nothing; what handles the signal ends this process.
      if (stop.signal.aborted) await new Promise<never>(() => undefined);
      const { version, outcome, ...more } = found;
      const result: MinorResult = { version, outcome, date: new Date().toISOString(), commit, ...more };
      results.push(result);
      tell(version, outcome);
      if (!values.record) continue;
      await recordMinor(result);
      await writeFile(page, minorsPage(await readMinorResults()));
    }
  } finally {
    signals[Symbol.dispose]();
  }
  return results;
}

try {
  const { values } = parseArgs({ options });
  if (values.help) console.log(usage);
  else {
    const results = await main(values);
    for (const { version, outcome, secondsToReady, upgrade, noUpgrade, error } of results) {
      const ready = secondsToReady === undefined ? 'never Ready' : `Ready after ${secondsToReady.toFixed(1)} s`;
      const upgraded =
        upgrade === undefined
          ? (noUpgrade ?? 'not upgraded')
          : `upgraded to ${upgrade.to} in ${upgrade.seconds.toFixed(1)} s, ${upgrade.failedCalls} of ${upgrade.calls} calls failed`;
      console.log([version, outcome, ready, upgraded, error].filter((part) => part !== undefined).join('; '));
    }
    if (results.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1;
  }
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 1;
}
