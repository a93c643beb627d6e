import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { disposeOnSignals } from '../cluster/dispose-on-signals.ts';
import { isAlive } from '../cluster/machines/process-identity.ts';
import { leftovers, removeHarness } from '../cluster/remove-harness.ts';
import { readHarness } from '../cluster/state.ts';
import type { DemoResult } from './run-demo.ts';
import { runDemo } from './run-demo.ts';
import { watchDemo } from './watch-demo.ts';

const usage = `usage: npm run demo [-- --name <name>] [--down | --watch <hours> [--tenants <number>]]
Builds a management cluster on this machine, installs Cluster API and Steward, and joins a worker to a hosted control plane.
  --down      removes all of it
  --watch     shows for so many hours that a demo that stands is good: tenants come and go, and every Service must answer
  --tenants   how many of them; default: 50 for each hour
  --name      lets several stand side by side; default: demo`;

const started = performance.now();

function tell(step: string, detail = ''): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
}

async function main(): Promise<void> {
  const values = readArguments();
  const { name } = values;
  if (values.help === true) {
    console.log(usage);
    return;
  }
  if (values.down === true) {
    const left = await leftovers(name);
    await removeHarness(name);
    tell('removed', left.length === 0 ? `nothing, there is no demo called ${name}` : `everything of ${name}`);
    return;
  }
  if (values.watch !== undefined) {
    const hours = Number(values.watch);
    const tenants = values.tenants === undefined ? Math.max(1, Math.round(hours * 50)) : Number(values.tenants);
    await watchDemo({ name, hours, tenants, progress: tell });
    return;
  }
  await makeRoom(name);
  await tellNextSteps(name, await build(name));
}

interface DemoArguments {
  readonly down?: boolean;
  readonly help?: boolean;
  readonly name: string;
  readonly watch?: string;
  readonly tenants?: string;
}

function readArguments(): DemoArguments {
  try {
    return parseArgs({
      options: {
        down: { type: 'boolean' },
        name: { type: 'string', default: 'demo' },
        watch: { type: 'string' },
        tenants: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`, { cause: error });
  }
}

/** Runs the demo; a signal removes all that it has made and ends this process. */
async function build(name: string): Promise<DemoResult> {
  const stop = new AbortController();
  const running = runDemo({ name, progress: tell, signal: stop.signal });
  const signals = disposeOnSignals({
    async [Symbol.asyncDispose]() {
      tell('stopping', 'removing everything');
      stop.abort(new Error('stopped by a signal'));
      // The run that was cut short fails; what counts is that nothing of it is left.
      await Promise.allSettled([running]);
      await removeHarness(name);
      tell('removed', `everything of ${name}`);
    },
  });
  try {
    return await running;
  } catch (error) {
    // What handles the signal ends this process once everything is removed.
    if (stop.signal.aborted) await new Promise<never>(() => undefined);
    if ((await readHarness(name)) === undefined) throw error;
    const advice = `The machines are left for a look; remove them with: npm run demo -- --down${name === 'demo' ? '' : ` --name ${name}`}`;
    throw new Error(`${(error as Error).message}\n\n${advice}`, { cause: error });
  } finally {
    signals[Symbol.dispose]();
  }
}

/** Prints what exists now and what to try. */
async function tellNextSteps(name: string, result: DemoResult): Promise<void> {
  const tenant = path.join(result.folder, 'tenant.kubeconfig');
  await writeFile(tenant, result.tenantKubeconfig, { mode: 0o600 });
  const kubectl = path.join(result.folder, 'bin', result.kubernetes, 'kubectl');
  const outside = `${kubectl} --kubeconfig ${result.managementKubeconfig}`;
  const inside = `${kubectl} --kubeconfig ${tenant}`;
  const down = name === 'demo' ? '' : ` --name ${name}`;
  console.log(`
The pod hello runs on ${result.node}, a worker of the Cluster ${result.workload}.
Its control plane is ${result.controlPlanePods.length} pod(s) of the management cluster: ${result.controlPlanePods.join(', ')}

  management cluster   ${outside} get clusters,stcp,tcp,machines -A
  the tenant           ${inside} get nodes,pods -A
  a command in a pod   ${inside} exec hello -- /agnhost connect kubernetes.default.svc:443
  one more worker      ${outside} scale machinedeployment ${result.workload}-md-0 --replicas 2
  what the manager did ${outside} -n steward-system logs deployment/steward-controller-manager
  kubeconfigs          ${result.managementKubeconfig}
                       ${tenant}
  remove everything    npm run demo -- --down${down}
`);
}

/**
 * Removes what an earlier run left.
 * @throws Error while another process is at it.
 */
async function makeRoom(name: string): Promise<void> {
  const record = await readHarness(name);
  if (record === undefined) return;
  if (await isAlive(record.owner)) {
    const other = `process ${record.owner.pid} is building the demo ${name} right now`;
    throw new Error(`${other}: wait for it, end it with Ctrl-C, or build another one with --name.`);
  }
  tell('removing', `what an earlier run of ${name} left`);
  await removeHarness(name);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
