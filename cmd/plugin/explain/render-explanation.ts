import type { Cause, Explanation, Step, StepState, TimelineEntry } from './explanation.ts';

/** The most characters of a line, unless a word or a command is longer. */
const width = 80;
/** How many of the newest entries of the timeline are shown. */
const shownEntries = 8;

const marks = { done: '+', waiting: '~', failed: 'x', 'not yet': '.' } as const satisfies Record<StepState, string>;
const verdicts = { ready: 'Ready', waiting: 'Waiting', failed: 'Needs help' } as const;

/** The text in lines of at most `width` characters, each after `indent`. */
function wrapped(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    if (line !== indent && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
    }
    line += line === indent ? word : ` ${word}`;
  }
  return line === indent ? lines : [...lines, line];
}

/** A duration as `kubectl get` writes an age. */
export function ageText(since: string | undefined, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since ?? '')) / 1000));
  if (Number.isNaN(seconds)) return '';
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
  ] as const;
  const [unit, size] = units.find(([, length]) => seconds >= 2 * length) ?? (['s', 1] as const);
  return `${Math.floor(seconds / size)}${unit}`;
}

const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, Math.max(0, most - 1))}…` : text;

function answers(serves: boolean | undefined): string {
  if (serves === undefined) return 'whether an API server answers is not known';
  return serves ? 'the API server answers' : 'no API server answers';
}

function head({ kind, namespace, name, version, endpoint, dataStore, serves }: Explanation): readonly string[] {
  const { wanted, running } = version;
  const versions =
    running === undefined || running === wanted ? (wanted ?? '') : `${running} (wanted: ${wanted ?? ''})`;
  const facts = [
    versions,
    ...(endpoint === undefined ? [] : [endpoint]),
    ...(dataStore === undefined ? [] : [`DataStore ${dataStore}`]),
    answers(serves),
  ];
  return [`${kind} ${namespace}/${name}`, ...wrapped(facts.filter((fact) => fact !== '').join(', '), '')];
}

function stepLine({ condition, state, reason, since, needs }: Step, all: readonly Step[], now: Date): string {
  const open = needs.filter((need) => all.find((step) => step.condition === need)?.state !== 'done');
  const why = state === 'not yet' && open.length > 0 ? `after ${open.join(', ')}` : state === 'done' ? '' : reason;
  const text = `${marks[state]} ${condition.padEnd(22)}${state.padEnd(9)}${ageText(since, now).padEnd(5)}${why}`;
  return shortened(text.trimEnd(), width);
}

function causeLines(cause: Cause, now: Date): readonly string[] {
  const age = ageText(cause.since, now);
  const since = age === '' ? '' : ` (for ${age})`;
  return [
    ...wrapped(`Cause: ${cause.reason}${since}, ${cause.where}`, ''),
    ...wrapped(cause.what, '  '),
    '',
    cause.passes ? 'What happens next' : 'What to do',
    ...wrapped(cause.remedy, '  '),
    ...cause.commands.map((command) => `  $ ${command}`),
  ];
}

function entryLine({ at, from, text, isWarning }: TimelineEntry, now: Date): string {
  const line = `${isWarning ? '!' : ' '} ${`${ageText(at, now)} ago`.padEnd(9)}${from}: ${text.replaceAll(/\s+/g, ' ')}`;
  return shortened(line, width);
}

/** The explanation as one screen of text. Marks instead of colors: `+` done, `~` waiting, `x` failed, `.` not yet. */
export function renderExplanation(explanation: Explanation, now: Date): string {
  const { steps, cause, timeline, unread, verdict } = explanation;
  const newest = timeline.slice(-shownEntries);
  const lines = [
    ...head(explanation),
    `${verdicts[verdict]}${cause === undefined ? ': nothing is waited for' : ''}`,
    '',
    ...steps.map((step) => stepLine(step, steps, now)),
    ...(cause === undefined ? [] : ['', ...causeLines(cause, now)]),
    ...(newest.length === 0 ? [] : ['', 'Timeline', ...newest.map((entry) => entryLine(entry, now))]),
    ...(unread.length === 0 ? [] : ['', ...unread.flatMap((text) => wrapped(`Not read: ${text}`, ''))]),
  ];
  return `${lines.join('\n')}\n`;
}
