import type { Picture } from './picture.ts';

/** How calls come from the API server to a worker that it cannot reach. */
export const konnectivity: Picture = {
  name: 'konnectivity',
  title: 'The tunnel from a control plane to a worker',
  description:
    'The konnectivity-agent on a worker opens a TLS connection to port 8132 of the konnectivity-server, which runs beside kube-apiserver in a pod of the control plane. Calls of kube-apiserver go through a socket to the server, back through the connection to the agent, and from there to the kubelet, to pods and to Services.',
  size: [900, 180],
  areas: [
    { at: [10, 10], size: [430, 160], name: 'Management cluster: a pod of the control plane' },
    { at: [510, 10], size: [380, 160], name: 'Tenant: a worker' },
  ],
  boxes: [
    { at: [30, 65], size: [150, 64], lines: ['kube-apiserver'] },
    { at: [260, 65], size: [160, 64], lines: ['konnectivity-server', 'port 8132'] },
    { at: [530, 65], size: [160, 64], lines: ['konnectivity-agent'] },
    { at: [750, 55], size: [125, 84], lines: ['kubelet', 'pods', 'Services'] },
  ],
  arrows: [
    {
      through: [
        [180, 97],
        [260, 97],
      ],
      both: true,
      label: { at: [220, 87], lines: ['socket'] },
    },
    {
      through: [
        [530, 97],
        [420, 97],
      ],
      label: { at: [475, 87], lines: ['TLS'] },
    },
    {
      through: [
        [690, 97],
        [750, 97],
      ],
    },
  ],
};
