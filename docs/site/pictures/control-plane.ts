import type { Picture } from './picture.ts';

/** One control plane: what is in its namespace, and what is beside it. */
export const controlPlane: Picture = {
  name: 'control-plane',
  title: 'The parts of the control plane "blue"',
  description:
    'Workers and users connect to the Service blue, directly or through an Ingress or a TLSRoute. The Service leads to the pods of the Deployment blue, in which kube-apiserver, kube-controller-manager, kube-scheduler and, if required, kine and konnectivity-server run. The pods mount Secrets blue-*. Over TLS, kube-apiserver or kine uses the tenancy of blue in the datastore, which nobody else can use.',
  size: [900, 380],
  areas: [
    { at: [10, 10], size: [640, 290], name: 'Management cluster, namespace of the TenantControlPlane blue' },
    { at: [230, 50], size: [405, 150], name: 'Pods of the Deployment blue' },
    { at: [710, 10], size: [180, 290], name: 'Datastore' },
  ],
  boxes: [
    { at: [30, 95], size: [160, 54], lines: ['Service blue'] },
    { at: [30, 215], size: [160, 54], lines: ['Ingress or TLSRoute', 'optional'], optional: true },
    { at: [242, 85], size: [180, 44], lines: ['kube-apiserver'] },
    { at: [434, 85], size: [190, 44], lines: ['kube-controller-manager'] },
    { at: [242, 142], size: [130, 44], lines: ['kube-scheduler'] },
    { at: [382, 142], size: [70, 44], lines: ['kine'], optional: true },
    { at: [462, 142], size: [162, 44], lines: ['konnectivity-server'], optional: true },
    { at: [300, 225], size: [300, 58], lines: ['Secrets blue-*', 'keys, certificates, kubeconfigs'] },
    { at: [725, 100], size: [150, 74], lines: ['Tenancy of blue', 'and of nobody else'] },
    { at: [30, 322], size: [160, 44], lines: ['Workers and users'] },
  ],
  arrows: [
    {
      through: [
        [190, 122],
        [230, 122],
      ],
    },
    {
      through: [
        [110, 215],
        [110, 149],
      ],
    },
    {
      through: [
        [110, 322],
        [110, 269],
      ],
      label: { at: [255, 318], lines: ['status.controlPlaneEndpoint'] },
    },
    {
      through: [
        [450, 225],
        [450, 200],
      ],
    },
    {
      through: [
        [635, 137],
        [725, 137],
      ],
      label: { at: [680, 127], lines: ['TLS'] },
    },
  ],
};
