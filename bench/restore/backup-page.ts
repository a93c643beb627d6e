import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { randomBytes } from 'node:crypto';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { openHowTo } from '../../e2e/framework/how-to-page.ts';

const root = path.join(import.meta.dirname, '../..');

/** The control plane of the page. */
const shop = 'shop';

/** Switches backups on as the page says, with a claim and the key of the namespace in which its tenants are. */
export async function enableBackups(cluster: ManagementCluster, namespace: string): Promise<void> {
  const key = randomBytes(32).toString('base64');
  await cluster.apply([
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: { name: 'backups', namespace: 'steward-system' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '4Gi' } } },
    },
  ]);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'backup-key', namespace }, stringData: { key } };
  if ((await cluster.client.read({ apiVersion: 'v1', kind: 'Secret', name: 'backup-key', namespace })) === undefined) {
    await cluster.apply([secret]);
  }
  const folder = await mkdtemp(path.join(cluster.harness.folder, 'restore-'));
  await symlink(path.join(root, 'config'), path.join(folder, 'config'));
  await (await openHowTo(cluster, 'back-up', { folder })).run('Without Helm');
}

/** A manifest that the page shows, by the name in its first line, for another control plane. */
export async function backupManifest(name: string, tenant: string): Promise<string> {
  const text = await readFile(path.join(root, 'docs/how-to/back-up.md'), 'utf8');
  const [, manifest] = new RegExp(`\`\`\`yaml\n# ${name}\n(.*?)\n\`\`\``, 's').exec(text) ?? [];
  if (manifest === undefined) throw new Error(`The page shows no ${name}.`);
  return manifest.replaceAll(shop, tenant);
}
