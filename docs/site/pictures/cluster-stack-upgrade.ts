import type { Arrow, Box, Picture } from './picture.ts';

const steps = [
  ['New class', 'in the Cluster'],
  ['Add-ons', 'before the upgrade'],
  ['Control plane', 'new version'],
  ['Workers', 'new Machines'],
  ['Add-ons', 'after the upgrade'],
] as const;

const left = (index: number): number => 10 + index * 181;

/** What an upgrade of a Cluster of a cluster stack waits for. */
export const clusterStackUpgrade: Picture = {
  name: 'cluster-stack-upgrade',
  title: 'The steps of an upgrade, each of which waits for the one before',
  description:
    'A Cluster names the class of a newer release. First the add-ons of the stage BeforeClusterUpgrade are changed, while the control plane waits. Then the control plane gets the new version, then the workers are replaced. In the end the add-ons of the stage AfterClusterUpgrade are changed.',
  size: [900, 88],
  areas: [],
  boxes: steps.map((lines, index): Box => ({ at: [left(index), 15], size: [155, 58], lines })),
  arrows: steps.slice(1).map((_, index): Arrow => ({
    through: [
      [left(index) + 155, 44],
      [left(index + 1), 44],
    ],
  })),
};
