import { autoscalingFigure } from './autoscaling/autoscaling-figure.ts';
import { chaosFigure } from './chaos/chaos-figure.ts';
import { burstFigure } from './burst/burst-figure.ts';
import { dayFigure } from './day/day-figure.ts';
import { densityFigure } from './density/density-figure.ts';
import { drainFigure } from './drain/drain-figure.ts';
import type { Figure, Stages } from './figure.ts';
import { floodFigure } from './flood/flood-figure.ts';
import { footprintFigure } from './footprint/footprint-figure.ts';
import { hardwareFigure } from './hardware/hardware-figure.ts';
import { hostileFigure } from './hostile/hostile-figure.ts';
import { instantFigure } from './instant/instant-figure.ts';
import { memoryFigure } from './memory/memory-figure.ts';
import { oneMoreFigure } from './onemore/one-more-figure.ts';
import { readyFigure } from './ready/ready-figure.ts';
import { restoreFigure } from './restore/restore-figure.ts';
import { scaleFigure } from './scale/scale-figure.ts';
import { sharingFigure } from './sharing/sharing-figure.ts';
import { upgradeFigure } from './upgrade/upgrade-figure.ts';
import { wakeFigure } from './wake/wake-figure.ts';
import { workerFigure } from './worker/worker-figure.ts';

/** All benchmarks by what they are run on, in the order in which they are run. */
export const figures: { readonly [Stage in keyof Stages]: readonly Figure<Stage>[] } = {
  steward: [
    readyFigure,
    burstFigure,
    oneMoreFigure,
    instantFigure,
    footprintFigure,
    upgradeFigure,
    drainFigure,
    autoscalingFigure,
    floodFigure,
    restoreFigure,
    wakeFigure,
    // It leaves clocks behind that were a day ahead.
    dayFigure,
  ],
  clusterApi: [workerFigure],
  machines: [hardwareFigure],
  process: [hostileFigure, memoryFigure, scaleFigure, sharingFigure, chaosFigure, densityFigure],
};
