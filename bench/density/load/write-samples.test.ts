import { expect, test } from '@jest/globals';

import { joinSamples, WriteRecorder } from './write-samples.ts';

const write = (at: number, isMeasured = false) => ({ at, isMeasured });

test('Writes are counted with the time until their answer, those of the measured tenant apart', () => {
  const recorder = new WriteRecorder();
  const [one, other] = [write(0), write(10, true)];
  recorder.began(one);
  recorder.began(other);
  recorder.answered(one, 12.34);
  recorder.answered(other, 15);
  expect(recorder.end(20)).toEqual({ othersMs: [12.3], measuredMs: [5], failed: 0 });
});

test('A write that has waited for more than a second at the end counts with that, a younger one not', () => {
  const recorder = new WriteRecorder();
  recorder.began(write(0));
  recorder.began(write(1900));
  expect(recorder.end(2000).othersMs).toEqual([2000]);
});

test('What was before the measured time is left out', () => {
  const recorder = new WriteRecorder();
  const before = write(0);
  recorder.began(before);
  recorder.answered(before, 3);
  recorder.failed('refused');
  recorder.begin();
  expect(recorder.end(10)).toEqual({ othersMs: [], measuredMs: [], failed: 0 });
});

test('Failures are counted, and the first says why', () => {
  const recorder = new WriteRecorder();
  const lost = write(0);
  recorder.began(lost);
  recorder.failed('no answer', lost);
  recorder.failed('the stream has ended');
  expect(recorder.end(5000)).toEqual({ othersMs: [], measuredMs: [], failed: 2, failure: 'no answer' });
});

test('Samples of several processes are one', () => {
  const joined = joinSamples([
    { othersMs: [1], measuredMs: [2], failed: 0 },
    { othersMs: [3], measuredMs: [], failed: 1, failure: 'why' },
  ]);
  expect(joined).toEqual({ othersMs: [1, 3], measuredMs: [2], failed: 1, failure: 'why' });
});
