import { describe, expect, test } from '@jest/globals';
import { featureSizes, folderSizes, largest } from './room-sizes.ts';

describe('A newcomer can survey', () => {
  test('every folder', () => {
    const sizes = folderSizes();
    expect(sizes.length).toBeGreaterThan(100);
    expect(sizes.filter(({ files }) => files > largest.folder)).toEqual([]);
  });

  test('the files at the top of a TenantControlPlane', () => {
    const [top] = folderSizes().filter(({ name }) => name === 'controllers/tenantcontrolplane');
    expect(top?.files).toBeLessThanOrEqual(largest.top);
  });

  test('every feature', () => {
    const sizes = featureSizes();
    expect(sizes.filter(({ files }) => files === 0)).toEqual([]);
    expect(sizes.filter(({ files }) => files > largest.feature)).toEqual([]);
  });
});
