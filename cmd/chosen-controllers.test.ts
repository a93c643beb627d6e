import { describe, expect, test } from '@jest/globals';
import { chosenControllers, controllerNames } from './chosen-controllers.ts';

const ofStacks = ['clusteraddon', 'clusteraddon-cluster', 'clusterstack', 'clusterstackrelease'];

describe('The list of controllers', () => {
  test.each([
    ['*', controllerNames],
    ['*,-stewardcontrolplane', [...ofStacks, 'datastore', 'kubeconfiggenerator', 'tenantcontrolplane']],
    ['-tenantcontrolplane, *', [...ofStacks, 'datastore', 'kubeconfiggenerator', 'stewardcontrolplane']],
    ['stewardcontrolplane', ['stewardcontrolplane']],
  ])('"%s" runs %j', (list, expected) => {
    expect([...chosenControllers(list)]).toEqual(expected);
  });

  test('An unknown name is refused with the names that exist', () => {
    expect(() => chosenControllers('*,-tenants')).toThrow(
      `--controllers: "-tenants" is not * or one of ${ofStacks.join(', ')}, datastore, kubeconfiggenerator, stewardcontrolplane, tenantcontrolplane`,
    );
  });

  test.each(['', '-datastore', 'datastore,-datastore'])('"%s" is refused because no controller would run', (list) => {
    expect(() => chosenControllers(list)).toThrow('leaves no controller to run');
  });
});
