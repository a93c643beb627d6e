import type { Picture } from './picture.ts';

/** The connections between a worker and its control plane. */
export const worker: Picture = {
  name: 'worker',
  title: 'A worker and the endpoint of its control plane',
  description:
    'On a worker, the kubelet, kube-proxy and pods call kube-apiserver through one address and port over TLS. With the add-on, the konnectivity-agent connects to the konnectivity-server. Calls of the API server to port 10250 of the kubelet come directly, or back through the connection of the agent.',
  size: [900, 290],
  areas: [
    { at: [10, 10], size: [400, 270], name: 'Worker' },
    { at: [640, 10], size: [250, 270], name: 'Control plane' },
  ],
  boxes: [
    { at: [30, 48], size: [360, 44], lines: ['kubelet, container runtime'] },
    { at: [30, 104], size: [175, 54], lines: ['kube-proxy', 'addons.kubeProxy'], optional: true },
    { at: [215, 104], size: [175, 54], lines: ['Pods of the tenant', 'CoreDNS among them'] },
    { at: [30, 172], size: [360, 44], lines: ['konnectivity-agent (addons.konnectivity)'], optional: true },
    { at: [30, 228], size: [360, 40], lines: ['Port 10250 of the kubelet'] },
    { at: [665, 75], size: [200, 54], lines: ['kube-apiserver'] },
    { at: [665, 172], size: [200, 44], lines: ['konnectivity-server'], optional: true },
  ],
  arrows: [
    {
      through: [
        [390, 70],
        [520, 70],
        [520, 95],
        [665, 95],
      ],
    },
    {
      through: [
        [390, 131],
        [520, 131],
        [520, 108],
        [665, 108],
      ],
      label: { at: [525, 58], lines: ['TLS, one address and port'] },
    },
    {
      through: [
        [390, 194],
        [665, 194],
      ],
    },
    {
      through: [
        [665, 121],
        [570, 121],
        [570, 248],
        [390, 248],
      ],
      label: { at: [520, 268], lines: ['directly, or through the agent'] },
    },
  ],
};
