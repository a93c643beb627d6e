import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { disposeOnSignals } from './dispose-on-signals.ts';
import { attachHarness } from './harness.ts';
import { harnessLinks, removeLink } from './network/links.ts';
import { attachManagementCluster, startManagementCluster } from './management-cluster.ts';
import { abandonedHarnesses, leftovers, removeHarness } from './remove-harness.ts';
import { isAlive } from './machines/process-identity.ts';
import { serveInBackground } from './serve-in-background.ts';
import { listHarnesses, readHarness } from './state.ts';

const usage = `usage: node e2e/cluster/main.ts <command>
  up [name] [--kubernetes <version>]   start a management cluster that stays
  down [name]                          remove it
  status                               list harnesses, machines and what is left of removed ones
  exec <name> <machine> -- <command>   run a command in a machine
  serve <name>                         give addresses and volumes to its Services and claims (up does this)
  reset [name] [--all]                 remove what nobody owns anymore, one harness, or everything
The default name is "local".`;

const started = performance.now();

function tell(step: string, detail = ''): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
}

async function up(name: string, kubernetes: string | undefined): Promise<void> {
  if ((await readHarness(name)) !== undefined) throw new Error(`${name} is up already; see: status`);
  const controller = new AbortController();
  const { signal } = controller;
  const starting = startManagementCluster({ name, progress: tell, serve: false, signal, kubernetes });
  using signals = disposeOnSignals({
    async [Symbol.asyncDispose]() {
      tell('stopping');
      controller.abort(new Error('stopped by a signal'));
      // A start that was cut short has failed; what counts is that nothing of it is left.
      await Promise.allSettled([starting]);
      await removeHarness(name);
    },
  });
  const cluster = await starting;
  await serveInBackground(cluster.harness);
  await cluster.harness.keep();
  signals[Symbol.dispose]();
  tell('ready');
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
}

async function serve(name: string): Promise<void> {
  const cluster = await attachManagementCluster(name, tell);
  cluster.serve();
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  process.exit(0);
}

async function status(): Promise<void> {
  const names = await listHarnesses();
  for (const name of names) {
    const record = await readHarness(name);
    if (record === undefined) {
      console.log(`${name}: half-made`);
      continue;
    }
    const owner = (await isAlive(record.owner))
      ? `owned by process ${record.owner.pid}`
      : record.keep
        ? 'kept'
        : 'abandoned';
    console.log(`${name}: ${owner}, Kubernetes ${record.kubernetes}, machines ${record.network.machines}`);
    for (const machine of await (await attachHarness(name)).machines()) {
      console.log(`  ${machine.name} ${machine.address} ${(await machine.isRunning()) ? 'running' : 'ended'}`);
    }
  }
  if (names.length === 0) console.log(['Nothing is up.', ...(await leftovers())].join('\n'));
}

async function exec(name: string, machineName: string, command: readonly string[]): Promise<void> {
  const machine = await (await attachHarness(name)).machine(machineName);
  const namespaces = ['-m', '-n', '-p', '-u', '-i', '-C'];
  const variables = [
    `PATH=${['local/sbin', 'local/bin', 'sbin', 'bin'].map((folder) => path.join('/usr', folder)).join(':')}`,
  ];
  const kubeconfig = 'KUBECONFIG=/etc/kubernetes/admin.conf';
  const args = ['-t', String(machine.init), ...namespaces, '--', 'env', ...variables, kubeconfig, ...command];
  const child = spawn('nsenter', args, { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((resolve) => {
    child.once('close', (code) => {
      resolve(code ?? 1);
    });
  });
}

async function reset(name: string | undefined, all: boolean): Promise<void> {
  const names = name !== undefined ? [name] : all ? await allNames() : await abandonedHarnesses();
  for (const each of names) {
    tell('removing', each);
    await removeHarness(each);
  }
  if (all) for (const link of await harnessLinks()) await removeLink(link);
  const remaining = await leftovers(all ? undefined : name);
  if ((all || name !== undefined) && remaining.length > 0) throw new Error(`These remain:\n${remaining.join('\n')}`);
  tell('done');
}

/** Also harnesses of which only a cgroup or a claim is left. */
async function allNames(): Promise<readonly string[]> {
  const left = await leftovers();
  const named = left.flatMap((line) => /steward-e2e\.([^.]+)\.|^network \d+ of (.+)$/.exec(line)?.slice(1) ?? []);
  const names: (string | undefined)[] = [...named, ...(await listHarnesses())];
  return [...new Set(names.filter((name) => name !== undefined))];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { kubernetes: { type: 'string' }, all: { type: 'boolean', default: false } },
  });
  const [command, name, ...rest] = positionals;
  if (command === 'up') return up(name ?? 'local', values.kubernetes);
  if (command === 'down') return removeHarness(name ?? 'local');
  if (command === 'status') return status();
  if (command === 'serve' && name !== undefined) return serve(name);
  if (command === 'reset') return reset(name, values.all);
  const [machine, ...words] = rest;
  if (command === 'exec' && name !== undefined && machine !== undefined) return exec(name, machine, words);
  throw new Error(usage);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
