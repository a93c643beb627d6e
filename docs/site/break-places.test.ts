import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { breakPlaces } from './break-places.ts';

const shown = (text: string): string =>
  breakPlaces(text)
    .map((part) => (part.isWhole ? `<${part.text}>` : part.text))
    .join('|');

describe('A line of a page may be broken', () => {
  test('in long names before a capital letter, and in paths behind their separators', () => {
    expect(shown('DefinitionOutdated is True')).toBe('Definition|Outdated| is True');
    expect(shown('spec.controlPlaneEndpoint.host')).toBe('spec.|control|Plane|Endpoint.|host');
    expect(shown('steward_tenant_condition{type="Ready"}')).toBe('steward_|tenant_|condition{|type=|"Ready"}');
    expect(shown('["InternalIP","ExternalIP"]')).toBe('["InternalIP",|"ExternalIP"]');
    expect(shown('configurationJSONPatches[].value')).toBe('configuration|JSON|Patches[].|value');
  });

  test('not between the dashes of a flag and its name', () => {
    expect(shown('see --max-starting-control-planes')).toBe('see |<--max>|-starting-control-planes');
  });

  test('not in short words, addresses and versions', () => {
    for (const text of ['e.g. the URL', '127.0.0.1:8080', 'v1.36.3-rc.10+build'])
      expect(breakPlaces(text)).toEqual([{ text, isWhole: false }]);
  });

  test('without a change of its text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'B', '.', '_', '-', ' ', '1', '{') }), (text) => {
        expect(
          breakPlaces(text)
            .map((part) => part.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });
});
