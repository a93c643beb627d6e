import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import { serverCa } from '../../servers/server-certificates.ts';
import type { ContractCluster } from './contract-cluster.ts';
import type { Stage } from './stage.ts';

const label = 'cluster.x-k8s.io/cluster-name';

interface Owned {
  readonly ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean }[];
}

const ownersOf = (object: PlainObject | undefined): Owned['ownerReferences'] =>
  (object?.metadata as Owned | undefined)?.ownerReferences;

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly 'certificate-authority-data': string } }[];
  readonly users: readonly { readonly user: { readonly 'client-certificate-data': string } }[];
}

/** Rule: the Secrets that Cluster API reads are of the control plane, whole again when broken, and follow its credentials. */
export function secrets(
  { plain, supplied, namesake }: Readonly<Record<'plain' | 'supplied' | 'namesake', () => ContractCluster>>,
  stage: () => Stage,
): void {
  test.each(['kubeconfig', 'ca'])(
    'The Secret of the %s has type, label and owner, and gets a removed owner back',
    async (purpose) => {
      const found = plain();
      const { kind } = stage().profile;
      const isWhole = (object: PlainObject | undefined): boolean =>
        ownersOf(object)?.some((owner) => owner.kind === kind && owner.controller === true) === true;
      const before = await found.until(found.secret(purpose), 'its owner', isWhole);
      expect(before).toMatchObject({ type: 'cluster.x-k8s.io/secret', metadata: { labels: { [label]: found.name } } });
      await found.merge(found.secret(purpose), { metadata: { ownerReferences: null } });
      await found.until(found.secret(purpose), 'its owner again', isWhole);
    },
  );

  test('A kubeconfig that was deleted or damaged is restored, and gets new credentials', async () => {
    const found = plain();
    const content = async (): Promise<Kubeconfig> => parse(await found.kubeconfig()) as Kubeconfig;
    const certificate = async (): Promise<string | undefined> =>
      (await content()).users[0]?.user['client-certificate-data'];
    const before = await certificate();
    await stage().management.client.delete(found.secret('kubeconfig'));
    await found.until(found.secret('kubeconfig'), 'its return', (object) => object?.data?.value !== undefined);
    await found.merge(found.secret('kubeconfig'), { data: { value: Buffer.from('spoiled').toString('base64') } });
    await found.until(found.secret('kubeconfig'), 'its content', ({ data } = {}) =>
      Buffer.from(data?.value ?? '', 'base64')
        .toString()
        .includes('clusters'),
    );
    await stage().hosting.rotate(found.hosted);
    await found.until(found.secret('kubeconfig'), 'another certificate', ({ data } = {}) => {
      const text = Buffer.from(data?.value ?? '', 'base64').toString();
      return text.includes('clusters') && !text.includes(before ?? '');
    });
    const user = Buffer.from((await certificate()) ?? '', 'base64');
    expect(new X509Certificate(user).subject).toContain('O=');
    expect(await (await found.workload()).list('v1', 'Namespace')).not.toEqual([]);
    await found.until(found.cluster, 'the connection of core', 'RemoteConnectionProbe');
  });

  test('A control plane with the name of its Cluster keeps its CA where workers read it', async () => {
    const found = namesake();
    expect(found.controlPlane.name).toBe(found.name);
    const labeled = await found.until(
      found.secret('ca'),
      'its label',
      (object) => object?.metadata?.labels?.[label] === found.name,
    );
    expect(labeled).toMatchObject({ type: 'cluster.x-k8s.io/secret' });
    const { data } = labeled;
    const parts = ['tls.crt', 'tls.key'].map((key) => Buffer.from(data?.[key] ?? '', 'base64').toString());
    expect(parts).toEqual([expect.stringContaining('BEGIN CERTIFICATE'), expect.stringContaining('PRIVATE KEY')]);
  });

  test('A CA that a user supplied beforehand is used and never overwritten', async () => {
    const found = supplied();
    const own = await serverCa('supplied');
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const { apiVersion, kind, name, namespace = '' } = found.secret('ca');
    const data = { 'tls.crt': base64(own.certificate), 'tls.key': base64(own.key) };
    const metadata = { name, namespace, labels: { [label]: found.name } };
    // The type of the handbook: what has it is its author's also for the control planes that own Secrets of Cluster API's type.
    await found.apply({ apiVersion, kind, metadata, type: 'kubernetes.io/tls', data });
    await found.apply(found.clusterManifest(), found.controlPlaneManifest());
    await found.until(found.controlPlane, 'its initialization', (object) => {
      const { controlPlaneInitialized } = (object?.status?.initialization ?? {}) as {
        controlPlaneInitialized?: boolean;
      };
      return controlPlaneInitialized === true;
    });
    const { clusters } = parse(await found.kubeconfig()) as Kubeconfig;
    expect(clusters[0]?.cluster['certificate-authority-data']).toBe(data['tls.crt']);
    expect(await (await found.workload()).list('v1', 'Namespace')).not.toEqual([]);
    const after = await found.read(found.secret('ca'));
    expect({ data: after.data, owners: ownersOf(after) }).toEqual({ data, owners: undefined });
  });
}
