import { mergeArguments } from '../shared/arguments.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import { trustFiles } from '../certificates/rotation/trust-files.ts';

const pki = '/etc/kubernetes/pki';
const kubeconfig = '/etc/kubernetes/controller-manager.conf';

/** kube-controller-manager's flags; the user's extra arguments win. */
export function controllerManagerArguments(input: ControlPlaneInput): string[] {
  const { tcp } = input;
  const { controlPlane } = tcp.spec;
  const { services, pods } = tenantNetworks(tcp);
  const trusted = trustFiles(input);
  return mergeArguments(
    {
      'allocate-node-cidrs': 'true',
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '0.0.0.0',
      'client-ca-file': trusted.ca,
      'cluster-cidr': pods.value,
      'cluster-name': tcp.metadata.name,
      // Always a file with one certificate: with more, kube-controller-manager signs nothing.
      'cluster-signing-cert-file': `${pki}/ca.crt`,
      'cluster-signing-key-file': `${pki}/ca.key`,
      controllers: '*,bootstrapsigner,tokencleaner',
      kubeconfig,
      'leader-elect': 'true',
      'requestheader-client-ca-file': trusted.frontProxyCa,
      'root-ca-file': trusted.ca,
      'service-account-private-key-file': `${pki}/sa.key`,
      'service-cluster-ip-range': services.value,
      'use-service-account-credentials': 'true',
    },
    { extra: controlPlane.deployment.extraArgs?.controllerManager, winner: 'user' },
  );
}
