import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { KubernetesClient } from '../harness/kubernetes-client.ts';
import { leftovers } from '../harness/remove-harness.ts';
import { runCommand } from '../harness/run-command.ts';
import { harnessFolder } from '../harness/state.ts';
import { builtManagerVariable } from '../stage/install-steward.ts';
import { scenarioResources } from '../stage/scenario-resources.ts';
import { tell } from '../stage/tell.ts';

const minutes = 60_000;
const owned = scenarioResources();
const name = owned.harness(`demo-${process.pid}`);
const root = path.join(import.meta.dirname, '..', '..');

/** Types the README's first command, without what the tests have prepared for themselves. */
async function demo(...more: readonly string[]): Promise<string> {
  const prepared = ([variable]: [string, unknown]): boolean => variable === builtManagerVariable;
  const env = Object.fromEntries(Object.entries(process.env).filter((entry) => !prepared(entry))) as Record<
    string,
    string
  >;
  const onOutput = (chunk: string): void => {
    for (const line of chunk.split('\n').filter((each) => / s {2}\S/.test(each))) tell('demo', line.trim());
  };
  const args = ['run', '--silent', 'demo', '--', '--name', name, ...more];
  return (await runCommand('npm', args, { cwd: root, env, onOutput, timeoutMs: 60 * minutes })).stdout;
}

describe('the demo', () => {
  test(
    'ends with a pod on a worker that joined a hosted control plane through a MachineDeployment',
    async () => {
      const said = await demo();
      const [, node = ''] = /^The pod hello runs on (\S+), a worker of the Cluster demo\.$/m.exec(said) ?? [];
      const kubeconfig = path.join(harnessFolder(name), 'tenant.kubeconfig');
      expect(said).toContain(kubeconfig);
      const tenant = new KubernetesClient(await readFile(kubeconfig, 'utf8'));
      const pod = await tenant.read({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'hello' });
      expect(pod).toMatchObject({ spec: { nodeName: node }, status: { phase: 'Running' } });
      expect(node).toMatch(/^demo-md-0-/);
    },
    // With empty caches everything is built on the way.
    61 * minutes,
  );

  test(
    'leaves nothing on the host when it is taken down',
    async () => {
      expect(await demo('--down')).toContain(`everything of ${name}`);
      expect(await leftovers(name)).toEqual([]);
    },
    3 * minutes,
  );
});
