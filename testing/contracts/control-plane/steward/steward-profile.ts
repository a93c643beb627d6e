import { join } from 'node:path';
import { writeProviderRelease } from '../../../../release/provider-release.ts';
import { writePredecessorRelease } from '../../../../e2e/framework/cluster-api/predecessor-release.ts';
import type { ControlPlaneProfile } from '../profile.ts';
import { startStewardHosting } from './steward-hosting.ts';

const root = join(import.meta.dirname, '../../../..');

/** Steward as the contract kit runs it. */
export const stewardProfile: ControlPlaneProfile = {
  provider: 'steward',
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
  kind: 'StewardControlPlane',
  plural: 'stewardcontrolplanes',
  versions: ['v1.34.4', 'v1.35.4', 'v1.36.3'],
  spec: {
    dataStoreName: 'default',
    network: { serviceType: 'ClusterIP' },
    // Endpoints must not be loopback addresses, and here all addresses are.
    apiServer: { extraArgs: ['--endpoint-reconciler-type=none'] },
  },
  changed: { network: { serviceType: 'ClusterIP', certSANs: ['contract.example.com'] } },
  elsewhere: ({ secret, key, namespace }) => ({
    deployment: {
      externalClusterReference: {
        ...{ kubeconfigSecretName: secret, kubeconfigSecretKey: key, deploymentNamespace: namespace },
      },
    },
  }),
  release: (into, version) => writeProviderRelease(into, { version }),
  predecessor: writePredecessorRelease,
  manager({ kubeconfigPath, namespace, webhooks, health, watchFilter = '' }) {
    const hooks =
      webhooks === undefined
        ? ['--webhook-bind-address=0']
        : [`--webhook-bind-address=127.0.0.1:${webhooks}`, `--webhook-url=https://localhost:${webhooks}`];
    return {
      program: process.execPath,
      programArguments: [
        ...[
          join(root, 'cmd', 'steward.ts'),
          'manager',
          `--kubeconfig=${kubeconfigPath}`,
          `--pod-namespace=${namespace}`,
        ],
        ...['--datastore=default', '--leader-elect=false', '--metrics-bind-address=0', `--watch-filter=${watchFilter}`],
        ...[
          `--health-probe-bind-address=127.0.0.1:${health}`,
          '--feature-gates=ExternalClusterReference=true',
          ...hooks,
        ],
      ],
      environment: process.env,
    };
  },
  host: startStewardHosting,
};
