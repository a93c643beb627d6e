import { randomBytes } from 'node:crypto';

import type { Harness } from '../../e2e/cluster/harness.ts';
import { ignoredPreflightErrors } from '../../e2e/cluster/kubeadm-documents.ts';
import type { Machine } from '../../e2e/cluster/machines/machine.ts';
import { initDocuments, joinDocuments } from './stacked-documents.ts';

/** Makes a control plane on machines of its own, by the real `kubeadm init` and `kubeadm join`. */
export async function startStackedCluster(
  harness: Harness,
  { name, members }: { readonly name: string; readonly members: number },
): Promise<readonly Machine[]> {
  const machines: Machine[] = [];
  for (let index = 0; index < members; index += 1)
    machines.push(await harness.createMachine({ name: `${name}-${index}` }));
  const [first, ...others] = machines;
  if (first === undefined) throw new RangeError('a control plane needs at least one machine');
  const cluster = {
    name,
    kubernetes: harness.record.kubernetes,
    endpoint: `${first.address}:6443`,
    token: `${randomBytes(3).toString('hex')}.${randomBytes(8).toString('hex')}`,
    certificateKey: randomBytes(32).toString('hex'),
    cgroupVersion: harness.cgroups.version,
  };
  harness.progress('kubeadm init', first.name);
  await runKubeadm(harness, first, ['init', '--upload-certs', '--skip-token-print'], initDocuments(cluster, first));
  for (const machine of others) {
    harness.progress('kubeadm join', machine.name);
    await runKubeadm(harness, machine, ['join'], joinDocuments(cluster, machine));
  }
  return machines;
}

async function runKubeadm(
  { signal }: Harness,
  machine: Machine,
  args: readonly string[],
  documents: string,
): Promise<void> {
  const [file, ignored] = ['/etc/kubeadm.yaml', `--ignore-preflight-errors=${ignoredPreflightErrors.join(',')}`];
  await machine.writeFile(file, documents, '0600');
  const diagnose = (): Promise<string> => machine.lastWords();
  await machine.exec(['kubeadm', ...args, '--config', file, ignored], { timeoutMs: 300_000, signal, diagnose });
}
