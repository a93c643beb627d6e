import { describe, expect, test } from '@jest/globals';
import type { CredentialsRotation, Rotation } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { rotatingCondition } from './rotating-condition.ts';

const rotation = (phase: Rotation['phase'], more: Partial<Rotation> = {}): Rotation => ({
  phase,
  lastInitiationTime: '2026-01-31T12:00:00Z',
  ...more,
});
const messageOf = (record: CredentialsRotation, error?: string): string | undefined =>
  rotatingCondition(record, error)?.message;

describe('The message about rotations', () => {
  test('names what is rotated, how far it is and what it waits for', () => {
    const record = {
      certificateAuthorities: rotation('Preparing', { step: 'Trusting', message: 'pods are being replaced' }),
    };
    expect(messageOf(record)).toBe('the rotation of the CAs is Preparing (step Trusting): pods are being replaced');
    expect(messageOf(record, 'no answer')).toBe('the rotation of the CAs is Preparing (step Trusting): no answer');
  });

  test('says what completes the rotation', () => {
    expect(messageOf({ serviceAccountKey: rotation('Prepared', { step: 'Signing' }) })).toBe(
      'the rotation of the service-account keys is Prepared; once all workers and users have switched, set the annotation certs.steward.butlerlabs.dev/operation=rotate-serviceaccount-key-complete',
    );
  });

  test('has one part for each rotation, and the reason why another one is refused', () => {
    const record = {
      certificateAuthorities: rotation('Completed'),
      serviceAccountKey: rotation('Completing', { step: 'Retiring' }),
      refusal: 'not now',
    };
    expect(messageOf(record)).toBe(
      'the rotation of the CAs is Completed; the rotation of the service-account keys is Completing (step Retiring); not now',
    );
  });
});
