import type { Picture } from './picture.ts';

/** The objects of the management cluster, and the workers. */
export const overview: Picture = {
  name: 'overview',
  title: 'A management cluster, a control plane in it, and its workers',
  description:
    'In the management cluster, a Cluster refers to a StewardControlPlane, which creates a TenantControlPlane. From it come the pods of the control plane, a Service and a tenancy in a DataStore. A MachineDeployment creates workers, which join with kubeadm. Their kubelet and kube-proxy call the Service.',
  size: [900, 372],
  areas: [
    { at: [10, 10], size: [660, 352], name: 'Management cluster' },
    { at: [730, 10], size: [160, 352], name: 'Workers' },
  ],
  boxes: [
    { at: [30, 50], size: [130, 44], lines: ['Cluster'] },
    { at: [210, 50], size: [190, 44], lines: ['StewardControlPlane'] },
    { at: [450, 50], size: [190, 44], lines: ['TenantControlPlane'] },
    {
      at: [210, 150],
      size: [210, 84],
      lines: ['Pods', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'],
    },
    { at: [490, 165], size: [150, 54], lines: ['Service'] },
    { at: [30, 150], size: [140, 84], lines: ['DataStore', 'etcd, PostgreSQL,', 'MySQL, NATS'] },
    { at: [30, 290], size: [190, 44], lines: ['MachineDeployment'] },
    { at: [750, 155], size: [120, 74], lines: ['kubelet', 'kube-proxy'] },
    { at: [750, 280], size: [120, 64], lines: ['Machine', 'kubeadm join'] },
  ],
  arrows: [
    {
      through: [
        [160, 72],
        [210, 72],
      ],
    },
    {
      through: [
        [400, 72],
        [450, 72],
      ],
    },
    {
      through: [
        [545, 94],
        [545, 122],
        [315, 122],
        [315, 150],
      ],
    },
    {
      through: [
        [545, 94],
        [545, 165],
      ],
    },
    {
      through: [
        [490, 192],
        [420, 192],
      ],
    },
    {
      through: [
        [210, 192],
        [170, 192],
      ],
      label: { at: [186, 252], lines: ['a tenancy'] },
    },
    {
      through: [
        [750, 192],
        [640, 192],
      ],
      label: { at: [695, 182], lines: ['TLS'] },
    },
    {
      through: [
        [220, 312],
        [750, 312],
      ],
      label: { at: [485, 302], lines: ['creates'] },
    },
    {
      through: [
        [810, 280],
        [810, 229],
      ],
    },
  ],
};
