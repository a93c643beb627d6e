import type { Reach } from '../../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import type { MonitoringSettings } from '../../../controllers/tenantcontrolplane/monitoring/pod-monitor.ts';
import type { BoundarySettings } from '../../../controllers/tenantcontrolplane/workload/boundaries.ts';
import type { Driver } from '../../../stores/driver.ts';

/** What the manager was started with, as far as it decides what becomes of a control plane. */
export interface PlanSettings {
  /** The namespace of the managers. */
  readonly managerNamespace: string;
  readonly drivers: readonly Driver[];
  readonly defaultDataStore: string;
  readonly newestMinor: number;
  readonly kineImage?: string;
  readonly boundaries?: BoundarySettings;
  readonly reach?: Reach;
  readonly renewBeforeMs?: number;
  readonly monitoring?: MonitoringSettings | undefined;
}

/** What the admission rules of the manager get of the settings. */
export function admissionSettings({
  defaultDataStore,
  newestMinor,
  boundaries,
  reach,
}: PlanSettings): Pick<PlanSettings, 'defaultDataStore' | 'newestMinor' | 'boundaries' | 'reach'> {
  return {
    ...{ defaultDataStore, newestMinor },
    ...(boundaries !== undefined && { boundaries }),
    ...(reach !== undefined && { reach }),
  };
}
