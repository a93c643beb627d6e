import type { Manifest } from '../api/meta.ts';
import type { AddonPod } from './addon-pod.ts';
import { kubeProxyImage } from './images.ts';
import type { ImageOverride } from './images.ts';
import { projectLabels } from './manifest-labels.ts';
import { parseCidrs } from './networks.ts';
import { bootstrappersGroup, clusterRoleBinding, configMapReaders } from './rbac.ts';
import { toYaml } from './to-yaml.ts';
import type { KubernetesVersion } from './versions.ts';

/** The inputs of kube-proxy in a tenant. */
export interface KubeProxyInputs {
  readonly version: KubernetesVersion;
  /** `host:port` at which nodes reach the API server. */
  readonly controlPlaneEndpoint: string;
  /** One network, or two joined by a comma. */
  readonly podCidr: string;
  readonly image?: ImageOverride;
  readonly pod?: AddonPod;
}

const name = 'kube-proxy';
const namespace = 'kube-system';
const directory = '/var/lib/kube-proxy';
const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

function kubeconfig(server: string): string {
  return toYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster: { 'certificate-authority': `${serviceAccount}/ca.crt`, server } }],
    contexts: [{ name: 'default', context: { cluster: 'default', namespace: 'default', user: 'default' } }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: `${serviceAccount}/token` } }],
  });
}

function configuration({ podCidr }: KubeProxyInputs): string {
  const [primary] = parseCidrs(podCidr, 'podCidr');
  return toYaml({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    bindAddress: primary.family === 6 ? '::' : '0.0.0.0',
    clientConnection: { kubeconfig: `${directory}/kubeconfig.conf` },
    clusterCIDR: podCidr,
  });
}

function configMap(inputs: KubeProxyInputs): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { ...projectLabels, app: name } },
    data: {
      'kubeconfig.conf': kubeconfig(`https://${inputs.controlPlaneEndpoint}`),
      'config.conf': configuration(inputs),
    },
  };
}

function container({ version, image, pod = {} }: KubeProxyInputs): Record<string, unknown> {
  return {
    name,
    image: kubeProxyImage(version, image),
    imagePullPolicy: 'IfNotPresent',
    command: [
      ...['/usr/local/bin/kube-proxy', `--config=${directory}/config.conf`, '--hostname-override=$(NODE_NAME)'],
      ...(pod.extraArgs ?? []),
    ],
    resources: pod.resources,
    env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    securityContext: { privileged: true },
    volumeMounts: [
      { name, mountPath: directory },
      { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
      { name: 'lib-modules', mountPath: '/lib/modules', readOnly: true },
    ],
  };
}

function daemonSet(inputs: KubeProxyInputs): Manifest {
  const selector = { 'k8s-app': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace, labels: { ...projectLabels, ...selector } },
    spec: {
      selector: { matchLabels: selector },
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels: selector },
        spec: {
          priorityClassName: 'system-node-critical',
          containers: [container(inputs)],
          hostNetwork: true,
          serviceAccountName: name,
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: inputs.pod?.tolerations ?? [{ operator: 'Exists' }],
          volumes: [
            { name, configMap: { name } },
            { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
            { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
          ],
        },
      },
    },
  };
}

/**
 * The kube-proxy add-on as kubeadm of the tenant's minor installs it, in the tenant's own version. Throws `InvalidInputError` for
 * an invalid pod network.
 */
export function kubeProxy(inputs: KubeProxyInputs): readonly Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: projectLabels } },
    clusterRoleBinding('kubeadm:node-proxier', 'system:node-proxier', { kind: 'ServiceAccount', name, namespace }),
    ...configMapReaders({ name, namespace, configMap: name, subjects: [{ kind: 'Group', name: bootstrappersGroup }] }),
    configMap(inputs),
    daemonSet(inputs),
  ];
}
