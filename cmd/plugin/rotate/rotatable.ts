import { tenantObjects } from '../../../api/names.ts';
import type { TenantObjectNames } from '../../../api/names.ts';

/** A certificate, or a kubeconfig with one, that can be replaced on request. */
export interface Rotatable {
  readonly name: string;
  readonly secret: keyof TenantObjectNames;
  readonly effect: string;
}

const rolled = 'Pods are rolled.';

/** What `rotate` can replace without an effect on workers or users. CAs are rotated gradually, by operations. */
export const rotatables: readonly Rotatable[] = [
  { name: 'api-server', secret: 'apiServer', effect: rolled },
  { name: 'api-server-kubelet-client', secret: 'apiServerKubeletClient', effect: rolled },
  { name: 'front-proxy-client', secret: 'frontProxyClient', effect: rolled },
  { name: 'datastore', secret: 'dataStoreCertificate', effect: rolled },
  { name: 'konnectivity', secret: 'konnectivityCertificate', effect: rolled },
  { name: 'konnectivity-kubeconfig', secret: 'konnectivityKubeconfig', effect: rolled },
  { name: 'controller-manager-kubeconfig', secret: 'controllerManagerKubeconfig', effect: rolled },
  { name: 'scheduler-kubeconfig', secret: 'schedulerKubeconfig', effect: rolled },
  {
    name: 'admin-kubeconfig',
    secret: 'adminKubeconfig',
    effect: 'The former certificate stays valid until it expires.',
  },
  {
    name: 'tcp-proxy',
    secret: 'tcpProxyCertificate',
    effect: 'The proxy inside the tenant takes the new certificate.',
  },
  {
    name: 'monitoring',
    secret: 'monitoringCertificate',
    effect: 'Prometheus takes the new certificate.',
  },
];

/** The operations that start and complete a gradual rotation of CAs and keys. */
export const operations = [
  'rotate-ca-start',
  'rotate-ca-complete',
  'rotate-serviceaccount-key-start',
  'rotate-serviceaccount-key-complete',
  'rotate-credentials-start',
  'rotate-credentials-complete',
] as const;
export type Operation = (typeof operations)[number];

/** Name of the Secret of a control plane that holds it. */
export const secretOf = (tcp: string, { secret }: Rotatable): string => tenantObjects(tcp)[secret];
