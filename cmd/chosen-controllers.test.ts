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

  test('A name that is none is refused with those that there are', () => {
    expect(() => chosenControllers('*,-tenants')).toThrow(
      `--controllers: "-tenants" is not * or one of ${ofStacks.join(', ')}, datastore, kubeconfiggenerator, stewardcontrolplane, tenantcontrolplane`,
    );
  });

  test.each(['', '-datastore', 'datastore,-datastore'])('"%s", which leaves nothing to run, is refused', (list) => {
    expect(() => chosenControllers(list)).toThrow('leaves no controller to run');
  });
});
