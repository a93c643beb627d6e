import { clusterApiReleases } from '../../../e2e/tools/cluster-api-releases.ts';
import { etcdReleases } from '../../../e2e/tools/etcd-releases.ts';
import { kubernetesReleases } from '../../../e2e/tools/kubernetes-releases.ts';
import { sourceModules, toolPin } from '../../../e2e/tools/pins.ts';
import { newestMinor, oldestMinor } from '../../../kubeadm/versions.ts';
import { etcdFloor } from '../../../stores/etcd/version.ts';
import { natsFloor } from '../../../stores/nats/version.ts';
import { postgresFloor } from '../../../stores/postgres/version.ts';

const list = (releases: readonly { readonly version: string }[]): string =>
  releases.map(({ version }) => version).join(', ');

const pinned = (...tools: readonly string[]): string => tools.map((tool) => toolPin(tool).source.version).join(', ');

/** What is accepted, and what the tests run: programs are pinned. */
function rows(): readonly (readonly [what: string, accepted: string, tested: string])[] {
  return [
    [
      'Kubernetes of tenants',
      `1.${oldestMinor} to 1.${newestMinor}, newer ones with \`--max-kubernetes-minor\``,
      list(kubernetesReleases),
    ],
    [
      'Kubernetes of the management cluster',
      '1.29 or later (`kubeVersion` of the chart)',
      `${kubernetesReleases[0].version}; of older ones none`,
    ],
    [
      'kubelets of a tenant',
      'up to three minors older than the control plane, and not newer',
      'the minor of the control plane, and the one before it',
    ],
    ['Cluster API', 'contracts v1beta1 and v1beta2', list(clusterApiReleases)],
    ['etcd', etcdFloor, list(etcdReleases)],
    ['PostgreSQL', postgresFloor, '15 of Debian 12'],
    ['MariaDB', '10.11 or later', '10.11 of Debian 12'],
    ['MySQL', '8.0 or later', 'none'],
    ['NATS', natsFloor, pinned('nats-server', 'nats-server-2.12.12')],
    ['kine', '`--kine-image`', pinned('kine')],
    ['konnectivity', 'any version with `spec.addons.konnectivity.server.version`', pinned('proxy-server')],
    [
      'Gateway API',
      'TLSRoute v1, v1alpha3 or v1alpha2',
      `${sourceModules['gateway-api'].version} with a router; the CRDs of ${sourceModules['gateway-api-1.4'].version}`,
    ],
    ['Traefik', 'with IngressRouteTCP', pinned('traefik')],
    ['helm', '4 (for cluster stacks)', pinned('helm')],
    ['containerd and runc of workers', 'what Kubernetes supports', pinned('containerd', 'runc')],
    ['Platforms', 'Linux on amd64 and arm64', 'amd64'],
  ];
}

/** docs/reference/generated/supported-versions.md, from the pins of the tests and the limits in the code. */
export function supportedVersionsPage(): string {
  const lines = rows().map(([what, accepted, tested]) => `| ${what} | ${accepted} | ${tested} |`);
  return [
    '<!-- Made by `npm run gen` from the pins of the tests; do not edit. -->',
    '',
    '# Supported versions',
    '',
    'The tests run exactly the versions in the last column. [Kubernetes minors](../minors.md) has the results for each minor, and',
    '[Unverified](../unverified.md) lists what has not run.',
    '',
    '| | Accepted | Tested |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
