import { beforeAll, describe, expect, test } from '@jest/globals';

import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';
import { natsWitness } from '../framework/load/store-witness.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import { storeTrials } from '../framework/store-trials.ts';
import { describeStoreTrial } from '../framework/stores/describe-store-trial.ts';
import { StoreStage } from '../framework/stores/store-stage.ts';
import { conditionOf, isCondition } from '../framework/tenant-stage.ts';

const owned = scenarioResources();
let on: StoreStage;

beforeAll(async () => {
  // Its own: nobody has installed the DataStore `default` there.
  const steward = await startStewardCluster(owned.harness(`stores-${process.pid}`), logStep, { dataStore: undefined });
  on = await StoreStage.open(owned.use(steward).cluster);
}, 20 * minutes);

for (const trial of storeTrials.filter(({ isSql }) => !isSql)) describeStoreTrial(trial, () => on);

describe('The quick start of nats with one login', () => {
  const heading = 'One user for one tenant';
  const trial = { dataStore: 'nats-store' };
  let page: HowToPage;

  test(
    'creates a DataStore that becomes Ready, also with a manifest of the Go Steward',
    async () => {
      await on.loadImage('nats');
      page = await openHowTo(on.cluster, 'datastore-nats');
      expect(page.untried.filter((found) => found === heading)).toHaveLength(3);
      await page.run(heading);
      await on.takesTheirs(trial.dataStore);
    },
    6 * minutes,
  );

  test(
    'says that its tenants would have the same credentials, and verifies nothing',
    async () => {
      const store = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: trial.dataStore };
      const seen = await on.cluster.waitFor(store, isCondition('IsolationVerified', 'False', 'SharedCredentials'), {
        timeoutMs: 2 * minutes,
      });
      expect(conditionOf(seen, 'IsolationVerified')?.message).toContain('the same credentials');
      expect(seen?.status?.isolation).toBeUndefined();
    },
    4 * minutes,
  );

  test(
    'serves one tenant and refuses a second one with the reason',
    async () => {
      await on.cluster.apply([on.tenant(trial, 'login-a')]);
      await on.stage.waitFor('login-a', 'Ready');
      await on.serves('login-a', 'before');
      await on.cluster.apply([on.tenant(trial, 'login-b')]);
      const { conditions = [] } = await on.stage.waitFor('login-b', isCondition('StoreReady', 'False', 'SingleTenant'));
      logStep('login-b', conditions.find(({ type }) => type === 'StoreReady')?.message);
      await on.kubectl(['-n', 'tenants', 'delete', 'tcp', 'login-b', kubectlTimeout(60)]);
      await on.serves('login-a', 'after-refusal');
    },
    6 * minutes,
  );

  test(
    'uses a new password, with which its tenant continues',
    async () => {
      await page.run(heading);
      await on.serves('login-a', 'after-rotation');
      const at = { apiVersion: 'v1', kind: 'ConfigMap', name: 'before', namespace: 'default' };
      await (await on.stage.open('login-a')).waitFor(at, (object) => object?.data?.of === 'login-a');
      expect(await on.managerRuns()).toBe(on.manager);
    },
    6 * minutes,
  );

  test(
    'contains no data of its tenant when that is deleted',
    async () => {
      await on.kubectl(['-n', 'tenants', 'delete', 'tcp', 'login-a', kubectlTimeout(120)]);
      // That its author has had the login is remembered.
      expect(await natsWitness(on.cluster)).toEqual(['records of owners: 1']);
      await page.run(heading);
    },
    6 * minutes,
  );
});
