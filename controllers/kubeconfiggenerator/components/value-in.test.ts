import { describe, expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { NoValueError, valueIn } from './value-in.ts';

const tcp = tenantControlPlaneWith({ metadata: { name: 'blue', namespace: 'team', labels: { 'a.b': 'x', tier: '' } } });

describe('valueIn', () => {
  test('returns the string itself, or the one at the path', () => {
    expect(valueIn(tcp, { stringValue: 'ada' })).toBe('ada');
    expect(valueIn(tcp, { fromDefinition: 'metadata.name' })).toBe('blue');
    expect(valueIn(tcp, { fromDefinition: '.spec.kubernetes.version' })).toBe('v1.36.3');
  });

  test.each([
    ['leads to nothing', 'metadata.absent', 'is not found'],
    ['leads beyond a string', 'metadata.name.length', 'is not found'],
    ['leads to an inherited member', 'metadata.constructor', 'is not found'],
    ['leads to an object', 'metadata.labels', 'is not a string'],
    ['leads to a number', 'spec.networkProfile.port', 'is not a string'],
    ['leads to an empty string', 'metadata.labels.tier', 'is empty'],
    ['is empty', '', 'is not found'],
  ])('refuses a path that %s, and names it', (_what, fromDefinition, reason) => {
    expect(() => valueIn(tcp, { fromDefinition })).toThrow(NoValueError);
    expect(() => valueIn(tcp, { fromDefinition })).toThrow(`${JSON.stringify(fromDefinition)} ${reason}`);
  });

  test('refuses an empty value, because a certificate without a name identifies no user', () => {
    expect(() => valueIn(tcp, { stringValue: '' })).toThrow('is empty');
  });
});
