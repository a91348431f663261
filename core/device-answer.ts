import * as z from 'zod';
import { integerId, maskedSecret, stated, time } from './answer.ts';
import { deviceConfiguration, gnmiSettings, snmpSettings } from './device-request.ts';

const protocolStatus = z
  .strictObject({
    state: z.enum(['idle', 'connecting', 'connected', 'backoff']),
    'last-success': time.nullable(),
    'last-error': z.strictObject({ code: z.string(), detail: z.string(), at: time }).nullable(),
  })
  .nullable();

const { name, address, netos, enabled } = stated(deviceConfiguration.shape);

export const labelsAnswer = z.record(z.string(), z.string());

export const deviceAnswer = z.strictObject({
  id: integerId,
  name,
  address,
  netos,
  labels: labelsAnswer,
  enabled,
  gnmi: z
    .strictObject({
      ...stated(gnmiSettings.shape),
      'client-key': maskedSecret,
      password: maskedSecret,
    })
    .nullable(),
  snmp: z
    .strictObject({
      ...stated(snmpSettings.shape),
      community: maskedSecret,
      'auth-password': maskedSecret,
      'priv-password': maskedSecret,
    })
    .nullable(),
  status: z.strictObject({
    worker: z.string(),
    reason: z.string(),
    gnmi: protocolStatus,
    snmp: protocolStatus,
  }),
});
