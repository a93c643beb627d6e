import { beforeAll } from '@jest/globals';

import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import { storeTrials } from '../framework/store-trials.ts';
import { describeStoreTrial } from '../framework/stores/describe-store-trial.ts';
import { StoreStage } from '../framework/stores/store-stage.ts';

const owned = scenarioResources();
let on: StoreStage;

beforeAll(async () => {
  const { cluster } = owned.use(await shareStewardCluster(owned.harness(`sql-${process.pid}`), logStep));
  on = await StoreStage.open(cluster);
}, 20 * minutes);

for (const trial of storeTrials.filter(({ isSql }) => isSql)) describeStoreTrial(trial, () => on);
