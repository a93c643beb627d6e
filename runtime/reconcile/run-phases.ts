import { inSpan } from '../observe/in-span.ts';
import type { Context } from './controller.ts';
import type { Outcome, Phase, Report, ReportLine } from './phases.ts';

/**
 * Refuses a list of phases that cannot run: a duplicate name, a need that no phase has, or a cycle. Refuses a phase with a condition that
 * needs one without: a condition that is blocked names the condition that it waits for. Call it where the list is built, so that a mistake
 * shows at start-up. Returns the frozen list.
 */
export function definePhases<S>(phases: readonly Phase<S>[]): readonly Phase<S>[] {
  const byName = new Map<string, Phase<S>>();
  for (const phase of phases) {
    if (byName.has(phase.name)) throw new Error(`two phases are named ${phase.name}: names must differ`);
    byName.set(phase.name, phase);
  }
  const state = new Map<string, 'open' | 'closed'>();
  const walk = (phase: Phase<S>, path: readonly string[]): void => {
    if (state.get(phase.name) === 'closed') return;
    if (state.get(phase.name) === 'open') {
      throw new Error(`phases depend on each other in a cycle: ${[...path, phase.name].join(' → ')}`);
    }
    state.set(phase.name, 'open');
    for (const need of predecessors(phase)) {
      const needed = byName.get(need);
      if (needed === undefined) throw new Error(`phase ${phase.name} needs ${need}, which is not among the phases`);
      if (phase.needs?.includes(need) === true && phase.condition !== undefined && needed.condition === undefined) {
        throw new Error(`phase ${phase.name} needs ${need}, which has no condition that ${phase.condition} could name`);
      }
      walk(needed, [...path, phase.name]);
    }
    state.set(phase.name, 'closed');
  };
  for (const phase of phases) walk(phase, []);
  const list = Object.freeze([...phases]);
  checked.add(list);
  return list;
}

function predecessors<S>({ needs = [], after = [] }: Phase<S>): readonly string[] {
  return [...needs, ...after];
}

const checked = new WeakSet<readonly unknown[]>();

/** A scope with what phases learned, in the order of the list; undefined for a phase that learned nothing. */
type Merge<S> = (scope: S, learned: readonly (Partial<S> | undefined)[]) => S;

interface Run<S> {
  readonly line: ReportLine<S>;
  /** What this phase and all it needs, directly or not, have learned: in the order of the list. */
  readonly learned: ReadonlyMap<string, Partial<S>>;
}

/**
 * Runs every phase as soon as its needs are done, side by side where nothing orders them. A phase sees the given scope
 * and what its needs and those before it learned, nothing else, so a missing need shows always and not only in unlucky runs. A phase that
 * waits or fails stops only those that need it. Never rejects for a phase's error; throws when the list is wrong. By default, a fact
 * that is learned later replaces one of the same name; `merge` may do otherwise.
 */
export async function runPhases<S extends object>(
  phases: readonly Phase<S>[],
  scope: S,
  ctx: Context,
  merge: Merge<S> = (before, learned) => Object.assign({}, before, ...learned) as S,
): Promise<Report<S>> {
  const list = checked.has(phases) ? phases : definePhases(phases);
  const runs = new Map<string, Promise<Run<S>>>();
  const start = (phase: Phase<S>): Promise<Run<S>> => {
    const known = runs.get(phase.name);
    if (known !== undefined) return known;
    const before = list.filter((other) => predecessors(phase).includes(other.name)).map(start);
    const run = Promise.all(before).then((ended) => runOne({ phase, list, scope, ctx, merge }, ended));
    runs.set(phase.name, run);
    return run;
  };
  const all = await Promise.all(list.map(start));
  const learned = all.map(({ line }) => (line.outcome?.is === 'done' ? line.outcome.learned : undefined));
  return {
    scope: Object.freeze(merge(scope, learned)),
    lines: all.flatMap(({ line }) => linesOf(line)),
  };
}

/** The line of a phase, and one for each of its findings. */
function linesOf<S>(line: ReportLine<S>): readonly ReportLine<S>[] {
  const findings = line.outcome?.is === 'done' ? (line.outcome.findings ?? []) : [];
  const reported = findings.map(({ condition, ...found }) => ({
    phase: { ...line.phase, condition },
    tookMs: 0,
    ...found,
  }));
  return [line, ...reported];
}

interface Step<S> {
  readonly phase: Phase<S>;
  readonly list: readonly Phase<S>[];
  readonly scope: S;
  readonly ctx: Context;
  readonly merge: Merge<S>;
}

async function runOne<S extends object>(step: Step<S>, before: readonly Run<S>[]): Promise<Run<S>> {
  const { phase, list, ctx, merge } = step;
  const learned = new Map(before.flatMap((one) => [...one.learned]));
  const isNeeded = ({ line }: Run<S>): boolean => phase.needs?.includes(line.phase.name) === true;
  const failed = before.find((one) => isNeeded(one) && one.line.outcome?.is !== 'done');
  if (failed !== undefined) {
    const blockedBy = failed.line.blockedBy ?? failed.line.phase.name;
    return { learned, line: { phase, blockedBy, tookMs: 0 } };
  }
  const facts = list.map(({ name }) => learned.get(name));
  const scope = Object.freeze(merge(step.scope, facts));
  const began = performance.now();
  try {
    ctx.signal.throwIfAborted();
    const outcome = await inSpan(`phase ${phase.name}`, {}, async (span): Promise<Outcome<S>> => {
      const result = await phase.run(scope, ctx);
      span.setAttribute('steward.outcome', result.is === 'waiting' ? `waiting: ${result.reason}` : result.is);
      return result;
    });
    if (outcome.is === 'done' && outcome.learned !== undefined) learned.set(phase.name, outcome.learned);
    return { learned, line: { phase, outcome, tookMs: performance.now() - began } };
  } catch (error) {
    return { learned, line: { phase, error, tookMs: performance.now() - began } };
  }
}
