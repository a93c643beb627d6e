import { setTimeout as pause } from 'node:timers/promises';

import type { ApiConnection } from '../../e2e/cluster/api-connection.ts';
import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { AttackResult } from './attack-result.ts';
import type { CpuBudget } from './cpu-budget.ts';

/** Definitions are created over so many connections at once. */
const connections = 8;

/** Most definitions; each also has an APIService, so that the quota would deny a few hundred more. */
const most = 600;

/** In this part of the time kinds are defined; then they are used. */
const definingPart = 0.6;

const group = 'flood.example.com';
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Defines kinds as fast as the budget allows, and lists the objects of each: an API server opens connections of their own to etcd for each
 * of them (k8s.io/apiserver/pkg/storage/storagebackend/factory/etcd3.go). Keeps them until the time is over; accepted are kinds.
 */
export async function defineKinds(
  { kubeconfig, ms }: { readonly kubeconfig: string; readonly ms: number },
  budget: CpuBudget,
): Promise<AttackResult> {
  const began = Date.now();
  const end = began + ms;
  const failures: string[] = [];
  const defined: string[] = [];
  const clients = Array.from({ length: connections }, () => new KubernetesClient(kubeconfig).connection);
  let sent = 0;
  await Promise.all(
    clients.map(async (connection) => {
      while (Date.now() < began + definingPart * ms && sent < most) {
        await budget.keep();
        sent += 1;
        const plural = `kinds${sent}`;
        try {
          await connection.send({ method: 'POST', path, body: definitionOf(plural, `Kind${sent}`) });
          defined.push(plural);
        } catch (error) {
          failures.push((error as Error).message);
        }
      }
    }),
  );
  let accepted = 0;
  await Promise.all(
    clients.map(async (connection, at) => {
      for (const plural of defined.filter((_, index) => index % clients.length === at)) {
        if (Date.now() >= end) return;
        await budget.keep();
        if (await isServed(connection, plural)) accepted += 1;
      }
    }),
  );
  await pause(Math.max(0, end - Date.now()));
  const endedAt = Date.now();
  for (const plural of defined) {
    await budget.keep();
    await clients[0]?.send({ method: 'DELETE', path: `${path}/${plural}.${group}` });
  }
  return { endedAt, accepted, failures };
}

/** A kind is served a moment after its definition. */
async function isServed(connection: ApiConnection, plural: string): Promise<boolean> {
  try {
    await connection.send({ method: 'GET', path: `/apis/${group}/v1/${plural}` });
    return true;
  } catch {
    return false;
  }
}

function definitionOf(plural: string, kind: string): PlainObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}
