import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { validate } from '../structural/validate.ts';
import {
  admissionController,
  admissionControllers,
  defaultAdmissionControllers,
  listAdmissionControllers,
} from './admission-controllers.ts';

const all = admissionController.openapi.enum ?? [];
const names = fc.subarray([...all], { minLength: 1 });

describe('admission plugins', () => {
  test('there are 37 of them, 18 by default', () => {
    expect(new Set(all).size).toBe(37);
    expect(defaultAdmissionControllers).toHaveLength(18);
    expect(all).toEqual(expect.arrayContaining([...defaultAdmissionControllers]));
  });

  test('NodeRestriction is a default, without which a worker may label and report other nodes', () => {
    expect(defaultAdmissionControllers).toContain('NodeRestriction');
  });

  test('any choice of names is accepted as a list and as one string, and means the same', () => {
    fc.assert(
      fc.property(names, (chosen) => {
        expect(validate(admissionControllers.openapi, chosen)).toEqual([]);
        expect(validate(admissionControllers.openapi, chosen.join(','))).toEqual([]);
        expect(listAdmissionControllers(chosen.join(', '))).toEqual(chosen);
        expect(listAdmissionControllers(chosen)).toEqual(chosen);
      }),
    );
  });

  test('any other name is refused in either form', () => {
    fc.assert(
      fc.property(
        names,
        fc.string().filter((name) => !all.includes(name) && !name.includes(',')),
        (chosen, stranger) => {
          expect(validate(admissionControllers.openapi, [...chosen, stranger])).not.toEqual([]);
          expect(validate(admissionControllers.openapi, [...chosen, stranger].join(','))).not.toEqual([]);
        },
      ),
    );
  });

  test('stray commas and spaces name nothing', () => {
    expect(listAdmissionControllers(' LimitRanger ,, ')).toEqual(['LimitRanger']);
    expect(listAdmissionControllers('')).toEqual([]);
  });
});
