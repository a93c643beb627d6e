import { differencesOf, isNone, noiseBetween } from './outcome/differences.ts';
import type { Differences } from './outcome/differences.ts';
import { worldShape } from './outcome/world-shape.ts';
import type { WorldShape } from './outcome/world-shape.ts';
import type { Fault } from './faults/fault.ts';
import type { Play } from './plays/play.ts';
import { ChaosWorld } from './world/chaos-world.ts';
import type { MadeCall } from './world/product-call.ts';

/** What a run is compared with. */
export interface Expected {
  readonly shape: WorldShape;
  readonly noise: ReadonlySet<string>;
}

/** How one run has ended. */
export interface Attempt {
  /** Whether every goal was reached. */
  readonly converged: boolean;
  readonly leftOver: readonly string[];
  /** Acknowledged writes of the tenant's user that are gone. */
  readonly lost: readonly string[];
  /** Everything that is not as it should be, for people. */
  readonly breaches: readonly string[];
}

/** Each act may take so long, in seconds: less than the quarter of an hour after which a manager checks everything anyway. */
const longest = 600;

/** After the last act, the world goes on for so long at least, in seconds: requests that were held arrive. */
const afterwards = 60;

/** And for so long at most: what a late request has changed inside a tenant is found after a quarter of an hour without watches there. */
const longestAfterwards = 1200;

/** A play that has been led to where the operation begins. */
export interface Prepared {
  readonly play: Play;
  readonly world: ChaosWorld;
  readonly seed: number;
}

/** Leads a play to where the operation begins. Throws if that fails, though nothing disturbs it. */
export async function prepare(play: Play, seed: number): Promise<Prepared> {
  const world = new ChaosWorld(seed);
  try {
    await play.prepare(world);
  } finally {
    world.stopAll();
  }
  return { play, world, seed };
}

/** A world like that which was prepared, whose processes are new. */
async function worldLike({ world, seed }: Prepared): Promise<ChaosWorld> {
  const next = new ChaosWorld(seed);
  await next.copyFrom(world);
  return next;
}

/** Plays the acts; the goals that were not reached. */
async function playActs(
  play: Play,
  world: ChaosWorld,
  settled: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<readonly string[]> {
  for (const { goal, act, reached, remedy, seconds = longest } of play.acts) {
    await act(world);
    const isReached = async (): Promise<boolean> => {
      await remedy?.(world);
      return reached(world);
    };
    if (!(await world.goOn(seconds, isReached))) {
      return [`after ${seconds} s it has not come to this: ${goal}${await stateOf(world)}`];
    }
  }
  await world.pass(afterwards);
  for (let left = longestAfterwards; left > 0 && !(await settled()); left -= afterwards) await world.pass(afterwards);
  const last = play.acts.at(-1);
  if (last === undefined || (await last.reached(world))) return [];
  return [`it does not stay like this: ${last.goal}${await stateOf(world)}`];
}

/** A run with a fault at one call. */
export async function runAttempt(
  prepared: Prepared,
  { expected, fault, call }: { readonly expected: Expected; readonly fault: Fault; readonly call: number },
  spoil?: ChaosWorld['spoil'],
): Promise<Attempt> {
  const { play } = prepared;
  const world = await worldLike(prepared);
  world.spoil = spoil;
  try {
    await startPlay(play, world, { at: call, strike: fault.strike });
    const differences = (): Differences => differencesOf(expected.shape, worldShape(world), expected.noise);
    const open = await playActs(play, world, () => Promise.resolve(isNone(differences())));
    const { leftOver, missing, changed } = differences();
    const lost = await lostOperations(play, world);
    const breaches = [
      ...open,
      ...leftOver.map((one) => `left over: ${one}`),
      ...missing.map((one) => `missing: ${one}`),
      ...changed.map((one) => `differs: ${one}`),
      ...lost.map((one) => `lost: ${one}`),
      ...world.mistakes.map((one) => `a mistake of the code: ${one}`),
    ];
    const converged = open.length + missing.length + changed.length + world.mistakes.length === 0;
    return { converged, leftOver, lost, breaches };
  } finally {
    world.stopAll();
  }
}

/** A run that nothing disturbs, with its calls. Throws if it does not come to its goals, or loses something. */
async function undisturbed(
  prepared: Prepared,
  spoil?: ChaosWorld['spoil'],
): Promise<{ readonly calls: readonly MadeCall[]; readonly shape: WorldShape }> {
  const { play } = prepared;
  const world = await worldLike(prepared);
  world.spoil = spoil;
  try {
    await startPlay(play, world);
    const problems = [...(await playActs(play, world)), ...(await lostOperations(play, world)), ...world.mistakes];
    if (problems.length > 0) throw new Error(`${play.name}, which nothing disturbs, fails: ${problems.join('; ')}`);
    return { calls: [...world.calls], shape: worldShape(world) };
  } finally {
    world.stopAll();
  }
}

/** What comes of a play that nothing disturbs, and its calls. Throws if two runs make different objects. */
export async function expectedOf(
  prepared: Prepared,
  spoil?: ChaosWorld['spoil'],
): Promise<{ readonly calls: readonly MadeCall[]; readonly expected: Expected }> {
  const [one, other] = [await undisturbed(prepared, spoil), await undisturbed(prepared, spoil)];
  const noise = noiseBetween(one.shape, other.shape);
  const { leftOver, missing } = differencesOf(one.shape, other.shape, noise);
  if (leftOver.length + missing.length > 0)
    throw new Error(
      `${prepared.play.name} does not make the same objects twice: ${[...leftOver, ...missing].join('; ')}`,
    );
  return { calls: one.calls, expected: { shape: one.shape, noise } };
}

async function startPlay(play: Play, world: ChaosWorld, fault?: Parameters<ChaosWorld['arm']>[0]): Promise<void> {
  if (play.fromStart === true) world.arm(fault);
  world.startManager('pod-0');
  if (play.fromStart === true) return;
  await world.pass(5);
  world.arm(fault);
}

async function lostOperations(play: Play, world: ChaosWorld): Promise<readonly string[]> {
  if (play.lost !== undefined) return play.lost(world);
  const data = await world.dataInUse();
  if (data !== undefined) world.user.look(data);
  else if (world.user.acknowledged.size > 0) world.user.missed.add('there is no data anymore');
  return [...world.user.missed];
}

async function stateOf(world: ChaosWorld): Promise<string> {
  if (!(await world.exists())) return '; there is no TenantControlPlane';
  const { conditions = [] } = (await world.read()).status ?? {};
  const open = conditions.filter(({ status }) => status !== 'True');
  return open.map(({ type, status, reason, message }) => `; ${type}=${status} ${reason} ${message}`).join('');
}
