import type { Arrow, Box, Picture } from './picture.ts';

const steps = [
  ['StoreReady', 'a place for the data'],
  ['EndpointReady', 'an address'],
  ['CertificatesReady', 'KubeconfigsReady'],
  ['ControlPlaneAvailable', 'pods serve'],
  ['TenantConfigured', 'the API server answers'],
  ['AddonsReady', 'add-ons are installed'],
] as const;

const at = (index: number): readonly [number, number] =>
  index < 3 ? [10 + index * 240, 15] : [10 + (index - 3) * 240, 125];

/** In which order to read the conditions of a control plane that is not Ready. */
export const conditions: Picture = {
  name: 'conditions',
  title: 'Conditions in the order in which they become True',
  description:
    'StoreReady, EndpointReady, CertificatesReady and KubeconfigsReady, ControlPlaneAvailable, TenantConfigured, AddonsReady, and at last Ready. The first one that is not True explains the rest.',
  size: [900, 205],
  areas: [],
  boxes: [
    ...steps.map((lines, index): Box => ({ at: at(index), size: [190, 64], lines })),
    { at: [740, 125], size: [130, 64], lines: ['Ready'] },
  ],
  arrows: [
    ...[0, 1, 3, 4, 5].map((index): Arrow => {
      const [x, y] = at(index);
      return {
        through: [
          [x + 190, y + 32],
          [x + 240, y + 32],
        ],
      };
    }),
    {
      through: [
        [585, 79],
        [585, 102],
        [105, 102],
        [105, 125],
      ],
    },
  ],
};
