import type { Picture } from './picture.ts';

/** The parts of a cluster stack, in the order in which they come to be. */
export const clusterStack: Picture = {
  name: 'cluster-stack',
  title: 'From a release of a cluster stack to a cluster with its add-ons',
  description:
    'A ClusterStack reads which releases there are in the registry, and creates a ClusterStackRelease for each. That creates the ClusterClass of the release with its templates. A Cluster names the class. Cluster API creates the StewardControlPlane and the Machines of the Cluster from it, which become the control plane and the workers. The ClusterAddon of the Cluster installs the add-ons of the release in it.',
  size: [900, 355],
  areas: [
    { at: [10, 10], size: [175, 335], name: 'Registry' },
    { at: [205, 10], size: [455, 335], name: 'Management cluster' },
    { at: [680, 10], size: [210, 335], name: 'Workload cluster' },
  ],
  boxes: [
    { at: [25, 52], size: [145, 74], lines: ['Release', 'class, add-ons', 'one digest'] },
    { at: [225, 60], size: [190, 58], lines: ['ClusterStack', 'provider and minor'] },
    { at: [450, 60], size: [190, 58], lines: ['ClusterStackRelease', 'with its digest'] },
    { at: [225, 160], size: [190, 58], lines: ['Cluster', 'names the class'] },
    { at: [450, 160], size: [190, 58], lines: ['ClusterClass', 'and its templates'] },
    { at: [225, 262], size: [190, 58], lines: ['ClusterAddon', 'stage by stage'] },
    { at: [450, 262], size: [190, 58], lines: ['StewardControlPlane', 'and Machines'] },
    { at: [695, 160], size: [180, 58], lines: ['Control plane', 'and workers'] },
    { at: [695, 262], size: [180, 58], lines: ['Add-ons', 'network, metrics'] },
  ],
  arrows: [
    {
      through: [
        [225, 89],
        [170, 89],
      ],
      label: { at: [195, 80], lines: ['1'] },
    },
    {
      through: [
        [415, 89],
        [450, 89],
      ],
      label: { at: [431, 80], lines: ['2'] },
    },
    {
      through: [
        [545, 118],
        [545, 160],
      ],
      label: { at: [558, 143], lines: ['3'] },
    },
    {
      through: [
        [415, 189],
        [450, 189],
      ],
      label: { at: [431, 180], lines: ['4'] },
    },
    {
      through: [
        [390, 218],
        [390, 240],
        [545, 240],
        [545, 262],
      ],
      label: { at: [470, 234], lines: ['5'] },
    },
    {
      through: [
        [640, 291],
        [670, 291],
        [670, 189],
        [695, 189],
      ],
    },
    {
      through: [
        [290, 218],
        [290, 262],
      ],
      label: { at: [303, 245], lines: ['6'] },
    },
    {
      through: [
        [320, 320],
        [320, 335],
        [785, 335],
        [785, 320],
      ],
    },
  ],
};
