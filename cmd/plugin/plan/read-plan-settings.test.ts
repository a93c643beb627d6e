import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { readPlanSettings } from './read-plan-settings.ts';
import type { FoundSettings } from './read-plan-settings.ts';

async function settingsWith(
  args: readonly string[] | undefined,
  env: readonly { readonly name: string; readonly value?: string }[] = [],
): Promise<FoundSettings> {
  const cluster = new FakeCluster();
  if (args !== undefined)
    await cluster.seed(kinds.Deployment, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        namespace: 'steward-system',
        name: 'steward-controller-manager',
        labels: { 'app.kubernetes.io/name': 'steward' },
      },
      spec: { template: { spec: { containers: [{ name: 'manager', args, env }] } } },
    });
  return readPlanSettings(clusterReader(cluster.admin), 'steward-system');
}

describe('The settings of a plan', () => {
  test('are those of the running manager', async () => {
    const args = ['manager', '--leader-elect', '--datastore=shared', '--max-kubernetes-minor', '35'];
    const { settings, note } = await settingsWith(args);
    expect(settings).toMatchObject({ defaultDataStore: 'shared', newestMinor: 35, managerNamespace: 'steward-system' });
    expect(settings.drivers.map(({ name }) => name)).toContain('etcd');
    expect(note).toBeUndefined();
  });

  test('are also those of its variables, which win over its arguments', async () => {
    const env = [
      { name: 'STEWARD_DATASTORE', value: 'other' },
      { name: 'STEWARD_MAX_KUBERNETES_MINOR', value: '34' },
    ];
    const { settings } = await settingsWith(['manager', '--datastore=shared'], [...env, { name: 'POD_NAME' }]);
    expect(settings).toMatchObject({ defaultDataStore: 'other', newestMinor: 34 });
  });

  test('are the defaults if no manager is found, and say so', async () => {
    const { settings, note } = await settingsWith(undefined);
    expect(settings.managerNamespace).toBe('steward-system');
    expect(note).toContain('no manager was found in the namespace steward-system');
  });

  test('are the defaults if the manager has flags of another version, and name the flag', async () => {
    expect((await settingsWith(['--flag-of-tomorrow=1'])).note).toContain('flag-of-tomorrow');
  });
});
