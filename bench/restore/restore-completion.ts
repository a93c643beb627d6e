import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { conditionOf } from '../../e2e/framework/tenant-stage.ts';
import { patienceMs } from './lost-tenant.ts';

/** The status of a TenantRestore as far as it is read here. */
interface RestoreStatus {
  readonly restoredTime?: string;
  readonly process?: { readonly bytes?: number; readonly step?: string };
}

/** How a restore has ended. */
export interface Completion {
  /** From its creation until it was Complete, and the part of it in which data was written and compared. In milliseconds. */
  readonly completeMs: number;
  readonly dataMs: number;
  readonly bytes: number;
  readonly restoredTime: string;
}

/** Waits until a TenantRestore is Complete. @throws Error when it fails. */
export async function completion(stage: TenantStage, name: string, begunAt: number): Promise<Completion> {
  const restore = stage.at('TenantRestore', name, 'steward.butlerlabs.dev/v1alpha1');
  let [dataFrom, dataTo] = [0, 0];
  const hasEnded = (object: PlainObject | undefined): boolean => {
    const { step = '' } = statusOf(object).process ?? {};
    if (step === 'Restoring') dataFrom ||= Date.now();
    if (['Waking', 'Restored'].includes(step)) dataTo ||= Date.now();
    return ['Complete', 'Failed'].some((type) => conditionOf(object, type)?.status === 'True');
  };
  const diagnose = (): Promise<string> => stage.cluster.diagnose('steward-system');
  const ended = await stage.cluster.waitFor(restore, hasEnded, { timeoutMs: patienceMs, what: 'its end', diagnose });
  const completeMs = Date.now() - begunAt;
  const failed = conditionOf(ended, 'Failed');
  if (failed?.status === 'True') throw new Error(`TenantRestore ${name} failed: ${failed.message ?? ''}`);
  const { restoredTime = '', process } = statusOf(ended);
  return { completeMs, dataMs: Math.max(dataTo - dataFrom, 0), bytes: process?.bytes ?? 0, restoredTime };
}

const statusOf = (object: PlainObject | undefined): RestoreStatus => (object?.status ?? {}) as RestoreStatus;
