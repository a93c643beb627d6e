import { describe, expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { addons } from '../addons/registry.ts';
import { validateImages } from './validate-images.ts';

const { registrySettings } = tenantControlPlaneWith().spec.controlPlane.deployment;
const found = (changes: Partial<typeof registrySettings>): readonly string[] =>
  validateImages(
    tenantControlPlaneWith({ deployment: { registrySettings: { ...registrySettings, ...changes } } }),
    addons,
  ).map(({ field }) => field.replace('spec.controlPlane.deployment.registrySettings.', ''));

describe('The repository of an image', () => {
  test.each([
    [{}],
    [{ registry: 'registry.example:5000/mirror/k8s' }],
    [{ registry: 'registry.example/' }],
    [{ registry: '[fd00::1]:5000' }],
    [{ registry: 'localhost' }],
    [{ apiServerImage: 'group/kube-apiserver_x', tagSuffix: '-patched.1' }],
  ])('%j is accepted', (changes) => {
    expect(found(changes)).toEqual([]);
  });

  test.each([
    [{ registry: 'evil.example/../x y' }, 'registry'],
    [{ registry: 'https://registry.example' }, 'registry'],
    [{ registry: 'registry.example/Mirror' }, 'registry'],
    [{ registry: `a${'.b'.repeat(300)}` }, 'registry'],
    [{ apiServerImage: 'kube-apiserver:v1' }, 'apiServerImage'],
    [{ controllerManagerImage: '../x' }, 'controllerManagerImage'],
    [{ schedulerImage: 'a b' }, 'schedulerImage'],
    [{ tagSuffix: '/x' }, 'tagSuffix'],
  ])('%j is refused', (changes, field) => {
    expect(found(changes)).toEqual([field]);
  });

  test('is checked in add-ons, too', () => {
    const tcp = tenantControlPlaneWith({
      spec: { addons: { coreDNS: { imageRepository: 'a b', imageTag: 'x y' }, kubeProxy: { imageRepository: 'a/b' } } },
    });
    expect(validateImages(tcp, addons).map(({ field }) => field)).toEqual([
      'spec.addons.coreDNS.imageRepository',
      'spec.addons.coreDNS.imageTag',
    ]);
  });
});
