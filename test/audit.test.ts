import { describe, expect, it } from 'vitest';
import { auditOutcome } from './audit.ts';

const report = (vulnerabilities: object) => JSON.stringify({ metadata: { vulnerabilities } });

describe('npm run audit', () => {
  it('passes on no known fault, and fails on one of whichever severity', () => {
    expect(auditOutcome(report({ low: 0, total: 0 }), '')).toEqual({
      line: 'audit: 0 known faults in what is deployed {"low":0}',
      exitCode: 0,
    });
    expect(auditOutcome(report({ low: 1, total: 1 }), '').exitCode).toBe(1);
  });

  it('passes for nothing that is no answer, and says why there is none', () => {
    const message =
      '405 Method Not Allowed - POST https://registry.npmjs.org/-/npm/v1/security/advisories/bulk';
    expect(auditOutcome(JSON.stringify({ message, statusCode: 405 }), '')).toEqual({
      line: `audit: NOT DONE, nothing is known either way: ${message}`,
      exitCode: 2,
    });
    const unreachable = auditOutcome('', 'npm error audit endpoint returned an error\n');
    expect(unreachable).toEqual({
      line: 'audit: NOT DONE, nothing is known either way: audit endpoint returned an error',
      exitCode: 2,
    });
    for (const answer of ['', 'null', '{}', '{"metadata":{"vulnerabilities":{}}}', '<html>']) {
      expect(auditOutcome(answer, '').exitCode, answer).toBe(2);
    }
  });
});
