import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { NamespacedResource } from '../../../api/meta.ts';
import { shopSource } from '../../../testing/worlds/backup-kinds-world.ts';
import { processDeployment, processJob } from './process-manifest.ts';
import type { BackupProcess } from './process-manifest.ts';

const owner: NamespacedResource = {
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'TenantBackup',
  metadata: storedMeta({ name: 'once', namespace: 'tenants' }),
};
const process: BackupProcess = {
  ...{ component: 'backup', owner, plural: 'tenantbackups', tenant: 'shop', source: shopSource, args: [] },
};
const settings = { namespace: 'steward-system', image: 'steward:v1' };

test.each([
  ['Deployment', processDeployment(process, settings)],
  ['Job', processJob(process, settings)],
])('The pod of a %s meets the restricted Pod Security Standard, and writes only to its volumes', (_kind, manifest) => {
  const { template } = manifest.spec as { template: { spec: Record<string, unknown> } };
  expect(template.spec).toMatchObject({
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  });
  expect(JSON.stringify(template.spec.volumes)).not.toContain('hostPath');
});
