import type { storeImages } from '../tools/store-images.ts';
import { etcdWitness, mysqlWitness, natsWitness, postgresWitness } from './load/store-witness.ts';
import type { StoreWitness } from './load/store-witness.ts';

/** A quick-start store as a scenario tries it. */
export interface StoreTrial {
  /** Folder of `config/datastores`, and the beginning of its tenants' names. */
  readonly store: string;
  /** Page of `docs/how-to` whose commands are run. */
  readonly page: string;
  readonly dataStore: string;
  /** Whether it is a database that kine reaches by SQL. */
  readonly isSql: boolean;
  /** True where users of the Go Steward have written such a DataStore: a file of e2e/fixtures/user-manifests. */
  readonly hasUsers: boolean;
  /** The image that has to be made first. */
  readonly image?: keyof typeof storeImages;
  /** Name of its StatefulSet. */
  readonly statefulSet: string;
  /** Heading of the page under which the administrator's credentials are changed. */
  readonly rotation: string;
  /** Whether the page tells how to insist on TLS. */
  readonly insistsOnTls: boolean;
  /** The page about its care, and the release of etcd to which that upgrades. */
  readonly care?: { readonly page: string; readonly release: string };
  readonly witness: StoreWitness;
}

/** The stores that serve many tenants. */
export const storeTrials: readonly StoreTrial[] = [
  {
    store: 'etcd',
    page: 'datastore-etcd',
    dataStore: 'default',
    isSql: false,
    hasUsers: true,
    statefulSet: 'etcd',
    rotation: "Rotate the administrator's certificate",
    insistsOnTls: false,
    care: { page: 'care-for-etcd', release: '3.7' },
    witness: etcdWitness,
  },
  {
    store: 'postgres',
    page: 'datastore-postgres',
    dataStore: 'postgres-store',
    isSql: true,
    hasUsers: true,
    image: 'postgres',
    statefulSet: 'postgres',
    rotation: "Rotate the administrator's password",
    insistsOnTls: true,
    witness: postgresWitness,
  },
  {
    store: 'mysql',
    page: 'datastore-mysql',
    dataStore: 'mysql-store',
    isSql: true,
    hasUsers: true,
    image: 'mysql',
    statefulSet: 'mysql',
    rotation: "Rotate the administrator's password",
    insistsOnTls: true,
    witness: mysqlWitness,
  },
  {
    store: 'nats',
    page: 'datastore-nats',
    dataStore: 'nats-accounts',
    isSql: false,
    hasUsers: false,
    image: 'nats',
    statefulSet: 'nats',
    rotation: "Rotate the administrator's credentials",
    insistsOnTls: false,
    witness: natsWitness,
  },
];
