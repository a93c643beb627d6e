import { X509Certificate, createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { ContractCluster } from './contract-cluster.ts';
import { capiVersion } from './contract-cluster.ts';
import type { Stage } from './stage.ts';

const account = 'system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager';

/** Rule: kubeadm's bootstrap provider finds all that it needs for workers, with the rights that the release gives it. */
export function bootstrap(plain: () => ContractCluster, stage: () => Stage): void {
  test('The bootstrap provider may read control planes', async () => {
    const { management, profile } = stage();
    const [group = ''] = profile.apiVersion.split('/');
    const resource = `${profile.plural}.${group}`;
    const answer = await management.kubectl('auth', 'can-i', 'get', resource, '--namespace', 'plain', '--as', account);
    expect(answer.trim()).toBe('yes');
  });

  test('A worker gets join data with a token of the workload cluster and the hash of its CA', async () => {
    const found = plain();
    await found.apply(...found.workerManifests(1));
    await found.until(found.at(capiVersion, 'MachineDeployment'), 'an available worker', (object) => {
      const { availableReplicas } = (object?.status ?? {}) as { availableReplicas?: number };
      return availableReplicas === 1;
    });
    const [machine] = await stage().management.client.list(capiVersion, 'Machine', found.namespace);
    expect(machine?.status).toMatchObject({ nodeRef: { name: expect.stringMatching(/./) } });
    const { dataSecretName = '' } = machine?.spec?.bootstrap as { dataSecretName?: string };
    const data = await found.read(found.at('v1', 'Secret', dataSecretName));
    const text = Buffer.from(data.data?.value ?? '', 'base64').toString();

    const ca = await found.read(found.secret('ca'));
    const key = new X509Certificate(Buffer.from(ca.data?.['tls.crt'] ?? '', 'base64')).publicKey;
    const hash = createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex');
    expect(text).toContain(`sha256:${hash}`);
    const { host, port } = (await found.read(found.cluster)).spec?.controlPlaneEndpoint as {
      readonly host: string;
      readonly port: number;
    };
    expect(text).toContain(`${host}:${port}`);
    const [, id = ''] = /token: ([a-z0-9]{6})\.[a-z0-9]{16}/.exec(text) ?? [];
    const token = { apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system', name: `bootstrap-token-${id}` };
    expect(await (await found.workload()).read(token)).toMatchObject({ type: 'bootstrap.kubernetes.io/token' });
  });
}
