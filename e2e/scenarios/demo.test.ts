import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import { attachManagementCluster } from '../cluster/management-cluster.ts';
import { leftovers } from '../cluster/remove-harness.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { harnessFolder } from '../cluster/state.ts';
import { consoleBlocks } from '../framework/console-blocks.ts';
import { HowToPage } from '../framework/how-to-page.ts';
import { builtManagerVariable } from '../framework/install-steward.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';

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
    for (const line of chunk.split('\n').filter((each) => / s {2}\S/.test(each))) logStep('demo', line.trim());
  };
  const args = ['run', '--silent', 'demo', '--', '--name', name, ...more];
  return (await runCommand('npm', args, { cwd: root, env, onOutput, timeoutMs: 60 * minutes })).stdout;
}

describe('The demo', () => {
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
    'follows the tutorial, whose commands are executed here',
    async () => {
      const tutorial = (await readFile(path.join(root, 'docs', 'tutorial', 'first-tenant.md'), 'utf8')).replaceAll(
        harnessFolder('demo'),
        harnessFolder(name),
      );
      const [, shorthands, ...blocks] = consoleBlocks(tutorial);
      const folder = await mkdtemp(path.join(tmpdir(), 'tutorial-'));
      const file = path.join(folder, 'shorthands');
      await writeFile(file, shorthands?.commands ?? '');
      const page = new HowToPage(await attachManagementCluster(name), blocks, {
        variables: { BASH_ENV: file },
        folder,
      });
      expect(await page.run('2. Look at the management cluster')).toMatch(/^default +demo-\S+ +3\/3 +Running/m);
      const listed = await page.run('2. Look at the management cluster');
      const conditions = listed.split('\n').filter((line) => /^\w+=(True|False|Unknown) /.test(line));
      expect(tutorial).toContain(`\`\`\`text\n${conditions.join('\n')}\n\`\`\``);
      expect(await page.run('2. Look at the management cluster')).toContain('is used by ["default/demo"]');
      expect(await page.run('3. Look at the tenant')).toMatch(/^default +pod\/hello +1\/1 +Running/m);
      expect(await page.run('3. Look at the tenant')).toContain('kind: Config');
      await page.run('4. Add a worker');
      expect((await page.run('4. Add a worker')).match(/ Ready /g)).toHaveLength(2);
      expect(await page.run('5. A second tenant, without Cluster API')).toMatch(/^kube-system +Active/m);
      expect(await page.run('5. A second tenant, without Cluster API')).toMatch(/^kubeadm join \S+:\d+ --token /m);
      await expect(page.run('5. A second tenant, without Cluster API')).rejects.toThrow(/v1\.30\.0/);
      await page.run('7. Delete');
      expect(page.untried).toEqual(['6. Keep it running', '7. Delete']);
      await rm(folder, { recursive: true });
    },
    10 * minutes,
  );

  test(
    'leaves nothing on the host when it is removed',
    async () => {
      expect(await demo('--down')).toContain(`everything of ${name}`);
      expect(await leftovers(name)).toEqual([]);
    },
    3 * minutes,
  );
});
