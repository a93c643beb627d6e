import { expect, test } from '@jest/globals';

import { MachineSteps } from './machine-steps.ts';

test('The steps of machines are passed to the listener, and other lines are not', () => {
  const steps = new MachineSteps();
  const heard: string[] = [];
  const listening = steps.listen((machine, step) => heard.push(`${machine} ${step}`));
  steps.hear('machine bench-1-md-0', 'joining');
  steps.hear('images', 'joining');
  listening[Symbol.dispose]();
  steps.hear('machine bench-1-md-0', 'joined');
  expect(heard).toEqual(['bench-1-md-0 joining']);
});
