import { autoscalingPresentation } from '../autoscaling/autoscaling-report.ts';
import { burstPresentation } from '../burst/burst-report.ts';
import { chaosPresentation } from '../chaos/chaos-report.ts';
import { dayPresentation } from '../day/day-report.ts';
import { densityPresentation } from '../density/density-report.ts';
import { drainPresentation } from '../drain/drain-report.ts';
import { floodPresentation } from '../flood/flood-report.ts';
import { footprintPresentation } from '../footprint/footprint-report.ts';
import { hardwarePresentation } from '../hardware/hardware-report.ts';
import { hostilePresentation } from '../hostile/hostile-report.ts';
import { instantPresentation } from '../instant/instant-report.ts';
import { memoryPresentation } from '../memory/memory-report.ts';
import { oneMorePresentation } from '../onemore/one-more-report.ts';
import { readyPresentation } from '../ready/ready-report.ts';
import { restorePresentation } from '../restore/restore-report.ts';
import { scalePresentation } from '../scale/scale-report.ts';
import { sharingPresentation } from '../sharing/sharing-report.ts';
import { upgradePresentation } from '../upgrade/upgrade-report.ts';
import { wakePresentation } from '../wake/wake-report.ts';
import { workerPresentation } from '../worker/worker-report.ts';
import { datastoresPresentation } from './datastore-figures.ts';
import { goStewardPresentation } from './go-steward-figures.ts';
import type { Presentation } from './presentation.ts';

/** All that may have a result, in the order of the pages. */
export const presentations: readonly Presentation[] = [
  readyPresentation,
  burstPresentation,
  oneMorePresentation,
  instantPresentation,
  wakePresentation,
  upgradePresentation,
  drainPresentation,
  autoscalingPresentation,
  dayPresentation,
  workerPresentation,
  footprintPresentation,
  hardwarePresentation,
  scalePresentation,
  sharingPresentation,
  chaosPresentation,
  densityPresentation,
  memoryPresentation,
  hostilePresentation,
  floodPresentation,
  restorePresentation,
  datastoresPresentation,
  goStewardPresentation,
];
