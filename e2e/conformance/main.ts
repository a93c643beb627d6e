import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { removeHarness } from '../cluster/remove-harness.ts';
import { measuredCommit } from '../framework/measured-commit.ts';
import { toolPin } from '../tools/pins.ts';
import { resolveTools } from '../tools/resolve.ts';
import { toolEnvironment } from '../tools/tool-environment.ts';
import { recordedTests } from './conformance-record.ts';
import type { ConformanceRecord } from './conformance-record.ts';
import { conformanceStage } from './conformance-stage.ts';
import { listConformanceTests } from './conformance-tests.ts';
import type { ConformanceTest } from './conformance-tests.ts';
import { explanationOf } from './explanations.ts';
import { standInForRegistry } from './images/stand-in-registry.ts';
import { referencePage } from './reference-page.ts';
import { ResultsFile } from './results-file.ts';
import { runLanes } from './run-lanes.ts';

const usage = `usage: npm run conformance [-- options]
Runs Kubernetes' conformance tests against a tenant with two workers, on this machine.
Results are kept: a second run takes the tests of which nothing is known yet. Ctrl-C ends it with what is known by then.
  --focus <expression>  only tests whose name it matches, for example sig-auth
  --again               also tests that have a result
  --failed              also tests that failed
  --minutes <number>    stop after so long; default: 240
  --lanes <number>      how many run side by side, those that want to be alone excepted; default: 1
  --name <name>         of the harness; default: conformance
  --keep                leave the cluster for the next run
  --page                run nothing, write docs/reference/conformance.md from the results that are kept`;

const started = performance.now();

function tell(step: string, detail = ''): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
}

const options = {
  focus: { type: 'string', default: '' },
  again: { type: 'boolean', default: false },
  failed: { type: 'boolean', default: false },
  minutes: { type: 'string', default: '240' },
  lanes: { type: 'string', default: '1' },
  name: { type: 'string', default: 'conformance' },
  keep: { type: 'boolean', default: false },
  page: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

const page = path.join(import.meta.dirname, '..', '..', 'docs', 'reference', 'conformance.md');

async function main(values: Values): Promise<void> {
  if (values.help) {
    console.log(usage);
    return;
  }
  const tools = await resolveTools(['e2e.test'], {
    progress: (line) => {
      tell('binaries', line);
    },
  });
  const { version } = toolPin('e2e.test').source;
  const folder = path.join(toolEnvironment().cacheFolder, 'conformance', version);
  const tests = await listConformanceTests(tools['e2e.test']);
  const results = await ResultsFile.open(path.join(folder, 'results.json'));
  if (!values.page) {
    await runTests(values, { e2eTest: tools['e2e.test'], folder, tests, results });
    for (const [outcome, found] of Map.groupBy(results.all, (result) => result.outcome)) {
      tell(outcome, `${found.length} of ${tests.length}`);
    }
    return;
  }
  const record: ConformanceRecord = {
    kubernetes: version,
    commit: await measuredCommit(),
    date: new Date().toISOString().slice(0, 10),
    tests: recordedTests(tests, results.all),
  };
  await writeFile(path.join(import.meta.dirname, 'results.json'), `${JSON.stringify(record, undefined, 1)}\n`);
  await writeFile(page, referencePage(record, explanationOf));
  tell('written', path.relative(process.cwd(), page));
}

interface Suite {
  readonly e2eTest: string;
  readonly folder: string;
  readonly tests: readonly ConformanceTest[];
  readonly results: ResultsFile;
}

function chosen(values: Values, { tests, results }: Suite): readonly ConformanceTest[] {
  const focus = new RegExp(values.focus);
  const again = new Set(values.failed ? ['interrupted', 'failed'] : ['interrupted']);
  const known = new Set(results.all.filter(({ outcome }) => !again.has(outcome)).map(({ name }) => name));
  return tests.filter(({ name }) => focus.test(name) && (values.again || !known.has(name)));
}

async function runTests(values: Values, suite: Suite): Promise<void> {
  const wanted = chosen(values, suite);
  tell('tests', `${wanted.length} of ${suite.tests.length} are to be run`);
  if (wanted.length === 0) return;
  const stop = new AbortController();
  const onSignal = (): void => {
    stop.abort();
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const stage = await conformanceStage(values.name, tell);
    await using registry = await standInForRegistry(stage.workers);
    tell('registry', registry.host);
    const deadline = performance.now() + Number(values.minutes) * 60_000;
    const { e2eTest, folder, results } = suite;
    const lanes = Number(values.lanes);
    await runLanes(wanted, { e2eTest, stage, folder, results, lanes, deadline, signal: stop.signal, tell });
  } finally {
    if (!values.keep) await removeHarness(values.name);
  }
}

try {
  await main(parseArgs({ options }).values);
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 1;
}
