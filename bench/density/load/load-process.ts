import { loadCycle, cycleMs } from './load-cycle.ts';
import type { LoadAction, LoadTenant } from './load-cycle.ts';
import type { LoadAnswer, LoadOrder } from './load-orders.ts';
import { TenantLoad } from './tenant-load.ts';
import { WriteRecorder } from './write-samples.ts';

/** How often it looks what is due. */
const tickMs = 5;

const recorder = new WriteRecorder();
const tenants: { readonly of: LoadTenant; readonly load: TenantLoad }[] = [];
let kinds = 0;
let actions: readonly LoadAction[] = [];
/** When the cycle began, and what of it is done. */
let began = performance.now();
let done = 0;

function answer(message: LoadAnswer): void {
  process.send?.(message);
}

/** All that is due. After a pause of this process, all of it at once: nobody would have waited. */
function tick(): void {
  const now = performance.now();
  for (;;) {
    const action = actions[done];
    if (action === undefined) {
      if (actions.length === 0 || now - began < cycleMs) return;
      began += cycleMs;
      done = 0;
    } else if (action.atMs > now - began) return;
    else {
      tenants[action.tenant]?.load.act(action);
      done += 1;
    }
  }
}

/** The cycle goes on where it was, with one tenant more. */
function rewind(): void {
  actions = loadCycle(
    tenants.map(({ of }) => of),
    kinds,
  );
  const elapsed = performance.now() - began;
  done = actions.findIndex(({ atMs }) => atMs > elapsed);
  if (done < 0) done = actions.length;
}

function add({ tenant, options }: Extract<LoadOrder, { readonly is: 'add' }>): void {
  const { number, isMeasured } = tenant;
  kinds = options.kinds.length;
  TenantLoad.open({ ...options, isMeasured }, recorder).then(
    (load) => {
      tenants.push({ of: tenant, load });
      answer({ is: 'added', number });
    },
    (error: unknown) => {
      answer({ is: 'added', number, failure: (error as Error).message });
    },
  );
}

process.on('message', (order: LoadOrder) => {
  if (order.is === 'add') add(order);
  else if (order.is === 'load') {
    rewind();
    answer({ is: 'loading' });
  } else if (order.is === 'begin') {
    recorder.begin();
    answer({ is: 'begun' });
  } else answer({ is: 'ended', samples: recorder.end(performance.now()) });
});
// Nobody wants to know anymore.
process.on('disconnect', () => process.exit(0));
setInterval(tick, tickMs);
