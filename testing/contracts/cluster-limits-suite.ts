import { expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Pod, Service } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { configMap, sampleDeployment } from './cluster-under-test.ts';
import type { At, ClusterUnderTest, Make } from './cluster-under-test.ts';
import { refusal } from '../servers/refusal.ts';

/** What every server refuses beyond schemas: sizes, what may not be changed, namespaces that are not there; and the time that pods get. */
export function describeLimits(under: () => ClusterUnderTest, make: Make, at: At): void {
  test('an object that is created with a version is refused', async () => {
    const error = await refusal(make('versioned', { metadata: { resourceVersion: '5' } }));
    expect(error).toMatchObject({ code: 500, message: expect.stringContaining('resourceVersion should not be set') });
  });

  test('a namespace that does not exist accepts nothing, by create and by apply', async () => {
    const { cluster } = under();
    const manifest = configMap('suite-nowhere', 'a');
    const absent = { code: 404, message: 'namespaces "suite-nowhere" not found' };
    expect(await refusal(cluster.create(kinds.ConfigMap, manifest))).toMatchObject(absent);
    expect(await refusal(cluster.apply(kinds.ConfigMap, manifest, { fieldManager: 'suite' }))).toMatchObject(absent);
  });

  test('a namespace that is being deleted accepts nothing new, and existing objects can be changed', async () => {
    const { cluster } = under();
    const name = `${under().namespace}-going`;
    const finalizers = ['example.com/held'];
    await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, finalizers } });
    await cluster.create(kinds.ConfigMap, configMap(name, 'old'));
    await cluster.delete(kinds.Namespace, { name });
    const error = await refusal(cluster.create(kinds.ConfigMap, configMap(name, 'new')));
    expect(error).toMatchObject({ code: 403, message: expect.stringContaining('because it is being terminated') });
    const patch = { type: 'merge', body: { data: { a: '1' } } } as const;
    expect(await cluster.patch(kinds.ConfigMap, { namespace: name, name: 'old' }, patch)).toMatchObject(patch.body);
    await cluster.patch(kinds.Namespace, { name }, { type: 'merge', body: { metadata: { finalizers: null } } });
  });

  test('the selector of a Deployment, the address of a Service and the template of a Job cannot be changed', async () => {
    const { cluster, namespace } = under();
    await cluster.create(kinds.Deployment, sampleDeployment(namespace, 'fixed'));
    const labels = { app: 'fixed', more: 'labels' };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels } } };
    const selector = cluster.patch(kinds.Deployment, at('fixed'), { type: 'merge', body: { spec } });
    expect(await refusal(selector)).toMatchObject({ code: 422, message: expect.stringContaining('spec.selector') });
    const metadata = { name: 'fixed', namespace };
    const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } };
    const made = await cluster.create<Service>(kinds.Service, service);
    const clusterIP = made.spec?.clusterIP === '10.96.200.1' ? '10.96.200.2' : '10.96.200.1';
    const body = { spec: { clusterIP, clusterIPs: [clusterIP] } };
    const moved = cluster.patch(kinds.Service, at('fixed'), { type: 'merge', body });
    expect(await refusal(moved)).toMatchObject({
      code: 422,
      message: expect.stringContaining('may not change once set'),
    });
    const containers = (image: string): unknown => [{ name: 'a', image }];
    const job = (image: string): Manifest => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: { template: { spec: { restartPolicy: 'Never', containers: containers(image) } } },
    });
    await cluster.create(kinds.Job, job('example.com/a:1'));
    const template = { spec: { template: { spec: { containers: containers('example.com/a:2') } } } };
    const again = cluster.patch(kinds.Job, at('fixed'), { type: 'merge', body: template });
    expect(await refusal(again)).toMatchObject({ code: 422, message: expect.stringContaining('spec.template') });
  });

  test('a mebibyte of data and 256 KiB of annotations are allowed, and no byte more', async () => {
    const { cluster, namespace } = under();
    const secret = (name: string, bytes: number): Promise<unknown> =>
      cluster.create(
        kinds.Secret,
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name, namespace },
          data: { a: Buffer.alloc(bytes).toString('base64') },
        },
        { dryRun: true },
      );
    await secret('full', 1_048_576);
    expect(await refusal(secret('over', 1_048_577))).toMatchObject({
      code: 422,
      message: expect.stringContaining('Too long'),
    });
    expect((await refusal(make('over', { data: { a: 'x'.repeat(1_048_577) } }))).code).toBe(422);
    const annotated = (count: number) =>
      make(`annotated-${count}`, { metadata: { annotations: { a: 'x'.repeat(count) } } });
    await annotated(262_143);
    expect(await refusal(annotated(262_144))).toMatchObject({
      code: 422,
      message: expect.stringContaining('metadata.annotations: Too long'),
    });
  });

  test('a pod on a node stays for its grace period when it is deleted; a later deletion may shorten it; a pod without a node is gone at once', async () => {
    const { cluster, namespace } = under();
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
    await cluster.apply(kinds.ServiceAccount, account, { fieldManager: 'suite' });
    const containers = [{ name: 'a', image: 'example.com/a:1' }];
    const pod = (name: string, spec: object): Promise<Pod> =>
      cluster.create(kinds.Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace },
        spec: { containers, ...spec },
      });
    const grace = async (): Promise<unknown> =>
      (await cluster.get(kinds.Pod, at('runs')))?.metadata.deletionGracePeriodSeconds;
    await pod('runs', { nodeName: 'node', terminationGracePeriodSeconds: 600 });
    await cluster.delete(kinds.Pod, at('runs'));
    expect(await grace()).toBe(600);
    await cluster.delete(kinds.Pod, at('runs'), { gracePeriodSeconds: 300 });
    expect(await grace()).toBe(300);
    await cluster.delete(kinds.Pod, at('runs'), { gracePeriodSeconds: 500 });
    expect(await grace()).toBe(300);
    await cluster.delete(kinds.Pod, at('runs'), { gracePeriodSeconds: 0 });
    expect(await cluster.get(kinds.Pod, at('runs'))).toBeUndefined();
    await pod('waits', {});
    await cluster.delete(kinds.Pod, at('waits'));
    expect(await cluster.get(kinds.Pod, at('waits'))).toBeUndefined();
  });
}
