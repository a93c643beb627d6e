import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { runCommand } from '../../cluster/machines/run-command.ts';
import { rootEtcdctl } from '../root-etcdctl.ts';

/** How a tenant reaches its data in the quick-start etcd. */
export interface EtcdTenancy {
  readonly endpoints: readonly string[];
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/**
 * Makes what Kamaji and the Go Steward make in an etcd for a tenant: a user without password, a role of the same name with access to the
 * prefix, and a client certificate whose common name is the user.
 */
export async function etcdTenancy(cluster: ManagementCluster, schema: string): Promise<EtcdTenancy> {
  const etcdctl = await rootEtcdctl(cluster);
  const run = (...words: readonly string[]): Promise<unknown> => cluster.exec([...etcdctl, ...words]);
  await run('user', 'add', schema, '--no-password');
  await run('role', 'add', schema);
  await run('role', 'grant-permission', schema, 'readwrite', `/${schema}/`, '--prefix=true');
  await run('user', 'grant-role', schema, schema);
  const certs = await cluster.client.read({
    ...{ apiVersion: 'v1', kind: 'Secret', namespace: 'steward-system', name: 'etcd-certs' },
  });
  const text = (key: string): string => Buffer.from(certs?.data?.[key] ?? '', 'base64').toString();
  const store = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: 'default' };
  const endpoints = (await cluster.client.read(store))?.spec?.endpoints as readonly string[];
  const folder = await mkdtemp(path.join(tmpdir(), 'etcd-tenancy-'));
  try {
    const at = (file: string): string => path.join(folder, file);
    await writeFile(at('ca.crt'), text('ca.crt'));
    await writeFile(at('ca.key'), text('ca.key'), { mode: 0o600 });
    await writeFile(at('ext'), 'keyUsage=digitalSignature\nextendedKeyUsage=clientAuth,serverAuth,codeSigning\n');
    const request = ['-newkey', 'rsa:2048', '-nodes', '-keyout', at('key'), '-out', at('csr')];
    await runCommand('openssl', ['req', '-new', '-subj', `/O=system:masters/CN=${schema}`, ...request]);
    const signing = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-set_serial', '4711', '-extfile', at('ext')];
    await runCommand('openssl', ['x509', '-req', '-days', '3650', '-in', at('csr'), '-out', at('crt'), ...signing]);
    const [certificate, key] = await Promise.all([readFile(at('crt'), 'utf8'), readFile(at('key'), 'utf8')]);
    return { endpoints, ca: text('ca.crt'), certificate, key };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
