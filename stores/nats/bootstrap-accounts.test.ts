import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { bootstrapNatsAccounts } from './bootstrap-accounts.ts';
import type { NatsAccountsBootstrap } from './bootstrap-accounts.ts';
import { credentialsProblem } from './credentials-file.ts';
import { nkeyOfSeed } from './nkey.ts';

const namespace = 'steward-system';
const access = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch'] }];

function rig(): NatsAccountsBootstrap & { readonly cluster: FakeCluster } {
  const plan = { name: 'nats', namespace, clusterDomain: 'cluster.local' };
  const cluster = new FakeCluster({ access });
  return { plan, cluster, clock: new FakeClock(), log: silent, signal: new AbortController().signal };
}

async function stored(cluster: FakeCluster): Promise<Readonly<Record<string, Secret>>> {
  const { items } = await cluster.admin.list(kinds.Secret, { namespace });
  return Object.fromEntries(items.map((secret) => [secret.metadata.name, secret]));
}

const change = (cluster: FakeCluster, data: Readonly<Record<string, string | null>>): Promise<unknown> =>
  cluster.admin.patch(kinds.Secret, { namespace, name: 'nats-operator' }, { type: 'merge', body: { data } });

describe('bootstrapNatsAccounts', () => {
  test('creates the Secrets that the DataStore and the StatefulSet reference, with keys of the right kind', async () => {
    const options = rig();
    const secrets = await bootstrapNatsAccounts(options);
    expect(
      Object.fromEntries(
        Object.entries(await stored(options.cluster)).map(([name, { data = {} }]) => [name, Object.keys(data).sort()]),
      ),
    ).toEqual({
      'nats-operator': ['operator.seed', 'signing.seed', 'system.creds'],
      'nats-operator-config': ['accounts.conf'],
      'nats-ca': ['ca.crt', 'ca.key'],
      'nats-server-certs': ['ca.crt', 'tls.crt', 'tls.key'],
    });
    const operator = secrets.get('nats-operator') ?? {};
    expect(nkeyOfSeed('operator', operator['signing.seed'] ?? '')).toBeDefined();
    expect(credentialsProblem(operator['system.creds'] ?? '')).toBeUndefined();
  });

  test('gives the servers no secret of the operator', async () => {
    const secrets = await bootstrapNatsAccounts(rig());
    const configuration = secrets.get('nats-operator-config')?.['accounts.conf'] ?? '';
    expect(configuration).toMatch(/^operator: "ey/);
    for (const secret of Object.values(secrets.get('nats-operator') ?? {}))
      for (const line of secret.split('\n').filter((text) => /^S[OU]/.test(text)))
        expect(configuration).not.toContain(line);
  });

  test('changes nothing when it runs again', async () => {
    const options = rig();
    await bootstrapNatsAccounts(options);
    const before = await stored(options.cluster);
    await bootstrapNatsAccounts(options);
    expect(await stored(options.cluster)).toEqual(before);
  });

  test('creates another user of the system account if its credentials are missing, and keeps the operator', async () => {
    const options = rig();
    const first = (await bootstrapNatsAccounts(options)).get('nats-operator') ?? {};
    await change(options.cluster, { 'system.creds': null });
    const second = (await bootstrapNatsAccounts(options)).get('nats-operator') ?? {};
    expect(second['system.creds']).not.toBe(first['system.creds']);
    expect(second['signing.seed']).toBe(first['signing.seed']);
  });

  test('never replaces an operator that a person broke, and says how to fix it', async () => {
    const options = rig();
    await bootstrapNatsAccounts(options);
    await change(options.cluster, { 'operator.seed': Buffer.from('SOMETHING').toString('base64') });
    await expect(bootstrapNatsAccounts(options)).rejects.toThrow(
      /Secret nats-operator, operator\.seed: .*restore it, or delete/,
    );
  });
});
