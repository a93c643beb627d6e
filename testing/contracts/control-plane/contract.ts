import { afterAll, beforeAll, describe, jest } from '@jest/globals';
import { bootstrap } from './bootstrap.ts';
import { ContractCluster } from './contract-cluster.ts';
import type { ContractManagement } from './contract-management.ts';
import { startContractManagement } from './contract-management.ts';
import { deletion } from './deletion.ts';
import { infrastructureClusters } from './infrastructure-clusters.ts';
import { move, upgrade } from './life-with-clusterctl.ts';
import { ownership } from './ownership.ts';
import { pausing } from './pausing.ts';
import type { ControlPlaneProfile, Hosting } from './profile.ts';
import { scale } from './scale.ts';
import { secrets } from './secrets.ts';
import { severalProviders } from './several-providers.ts';
import type { Stage } from './stage.ts';
import { topology } from './topology.ts';

/** For the start of a management cluster, on a busy machine too. */
const startMs = 400_000;
/** For one test; what it waits for has deadlines of its own. */
const testMs = 300_000;

/**
 * Declares the tests of the contract that Cluster API has with control-plane providers, against the managers of one of its
 * releases. Tests stand in the order in which a Cluster lives: later ones go on with what earlier ones made.
 */
export function describeContract(profile: ControlPlaneProfile, clusterApi: string): void {
  jest.setTimeout(testMs);
  describe(`${profile.provider} fulfills the contract of Cluster API ${clusterApi}`, () => {
    let management: ContractManagement;
    let hosting: Hosting | undefined;
    const stage = (): Stage => {
      if (hosting === undefined) throw new Error('nothing was started');
      return { profile, management, hosting };
    };
    /** Clusters that come up side by side. */
    const beginnings: (() => Promise<void>)[] = [];
    const cluster = (name: string, controlPlane?: string) => () =>
      new ContractCluster({ profile, client: management.client }, name, controlPlane);

    beforeAll(async () => {
      management = await startContractManagement({ profile, clusterApi });
      await management.startProvider();
      hosting = await profile.host({ client: management.client, kubeconfig: management.server.kubeconfig });
      await Promise.all(beginnings.map((begin) => begin()));
    }, startMs);

    afterAll(async () => {
      await hosting?.[Symbol.asyncDispose]();
      await management[Symbol.asyncDispose]();
    });

    describe('Ownership and initialization', () => {
      ownership(cluster('plain'));
    });
    describe('Infrastructure clusters', () => {
      const kinds = { ContractCluster: cluster('managed'), UnfitCluster: cluster('unfit') };
      beginnings.push(infrastructureClusters({ ...kinds, OlderCluster: cluster('older', 'older') }));
    });
    describe('Workers', () => {
      bootstrap(cluster('plain'), stage);
    });
    describe('Scale', () => {
      scale(cluster('plain'), stage);
    });
    describe('Pausing', () => {
      pausing(cluster('plain'));
    });
    describe('Secrets', () => {
      secrets({ plain: cluster('plain'), supplied: cluster('supplied'), namesake: cluster('older', 'older') }, stage);
    });
    describe('Deletion', () => {
      const doomed = { unreachable: cluster('older', 'older'), bare: cluster('managed'), resting: cluster('unfit') };
      deletion({ plain: cluster('plain'), ...doomed }, stage);
    });
    describe('Topology', () => {
      beginnings.push(topology(cluster('topo'), stage));
    });
    describe('Another management cluster', () => {
      let second: ContractManagement | undefined;
      const management2 = (): ContractManagement => {
        if (second === undefined) throw new Error('nothing was started');
        return second;
      };
      const there = (name: string) => () => new ContractCluster({ profile, client: management2().client }, name);

      beforeAll(async () => {
        const release: typeof profile.predecessor = (current, into) => profile.predecessor(current, into);
        second = await startContractManagement({ profile, clusterApi, release });
      }, startMs);

      afterAll(async () => {
        await second?.[Symbol.asyncDispose]();
      });

      const managements = { first: stage, second: management2 };
      upgrade(managements, there('old'));
      severalProviders(management2, { red: there('red'), green: there('green') });
      if (profile.elsewhere !== undefined) move(managements, { here: cluster('roaming'), there: there('roaming') });
    });
  });
}
