import type { Box, Arrow, Picture } from './picture.ts';

const steps = [
  ['Event', 'from a watch'],
  ['Key', 'in the queue'],
  ['Get, gather', 'all reads'],
  ['Phases', 'side by side'],
  ['Report', 'conditions'],
  ['Status', 'one patch'],
] as const;

const left = (index: number): number => 10 + index * 150;

/** The way of one reconcile. */
export const reconcile: Picture = {
  name: 'reconcile',
  title: 'From an event to the status',
  description:
    'An event puts the key of an object into the queue. The reconcile reads everything that it needs, then runs its phases: each turns what was read into manifests, by pure components, and applies them. The phases report, pure code makes the status from the reports, and one patch writes it.',
  size: [900, 175],
  areas: [],
  boxes: [
    ...steps.map((lines, index): Box => ({ at: [left(index), 15], size: [125, 58], lines })),
    { at: [left(3) - 30, 115], size: [185, 50], lines: ['Pure component', 'manifests to apply'] },
  ],
  arrows: [
    ...steps.slice(1).map((_, index): Arrow => ({
      through: [
        [left(index) + 125, 44],
        [left(index + 1), 44],
      ],
    })),
    {
      through: [
        [left(3) + 62, 73],
        [left(3) + 62, 115],
      ],
      both: true,
    },
  ],
};
