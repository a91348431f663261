import { describe, expect, it } from 'vitest';
import { type BodySchema, validateBody } from '../../core/body.ts';
import { DEVICE_MEMBERS, GNMI_MEMBERS, SNMP_MEMBERS } from '../../core/device.ts';
import { deviceConfiguration, gnmiSettings, snmpSettings } from '../../core/device-request.ts';
import { engineConfiguration } from '../../core/engine-request.ts';
import { liveTestBody } from '../../core/live-test-request.ts';
import {
  fieldBody,
  fieldOrder,
  mappingBody,
  modelCreation,
  modelImport,
  modelUpdate,
  newVersion,
} from '../../core/model-request.ts';
import { PEER_MEMBERS } from '../../core/peer.ts';
import { peerConfiguration } from '../../core/peer-request.ts';
import { Problem } from '../../core/problem.ts';
import { SUBSCRIPTION_MEMBERS } from '../../core/subscription.ts';
import { subscriptionConfiguration } from '../../core/subscription-request.ts';
import { tokenRequest } from '../../core/token-request.ts';
import { detectRequest, webhookConfiguration, webhookRequest } from '../../core/webhook-request.ts';

const STORED: Readonly<Record<string, readonly [BodySchema, object]>> = {
  peer: [peerConfiguration, PEER_MEMBERS],
  device: [deviceConfiguration, DEVICE_MEMBERS],
  'device gnmi': [gnmiSettings, GNMI_MEMBERS],
  'device snmp': [snmpSettings, SNMP_MEMBERS],
  subscription: [subscriptionConfiguration, SUBSCRIPTION_MEMBERS],
};

describe('the members that a noun is read by are those that its body is checked by', () => {
  it.each(Object.entries(STORED))('%s: in the same order, and the same when omitted', (_noun, declared) => {
    const [schema, members] = declared;
    const omitted = Object.entries(schema.shape).map(([member, part]) => {
      const { success, data } = (part as BodySchema).safeParse(undefined);
      return [member, success ? data : undefined];
    });
    expect(Object.entries(members)).toEqual(omitted);
  });
});

const BODIES: Readonly<Record<string, BodySchema>> = {
  ...Object.fromEntries(Object.entries(STORED).map(([noun, [schema]]) => [noun, schema])),
  engine: engineConfiguration,
  'live test': liveTestBody,
  field: fieldBody,
  'field order': fieldOrder,
  mapping: mappingBody,
  'new model': modelCreation,
  'model import': modelImport,
  model: modelUpdate,
  'new version': newVersion,
  token: tokenRequest,
  detect: detectRequest,
  webhook: webhookRequest,
  'webhook config': webhookConfiguration,
};

const ODD_VALUES = [
  null,
  true,
  -1,
  0.5,
  1e12,
  '',
  'odd',
  ' '.repeat(70_000),
  '\ud800',
  [],
  ['odd'],
  {},
  { odd: 7 },
];

describe('what is wrong with a body is told in our words', () => {
  it.each(Object.entries(BODIES))('%s: whatever stands in whichever member', (_noun, schema) => {
    for (const member of Object.keys(schema.shape)) {
      for (const value of ODD_VALUES) {
        for (const { detail } of errorsOf(schema, { [member]: value })) {
          expect(detail, `${member} ${JSON.stringify(value).slice(0, 40)}`).not.toMatch(
            /Invalid|undefined|is $/,
          );
        }
      }
    }
  });
});

function errorsOf(schema: BodySchema, body: unknown) {
  try {
    validateBody(schema, [], body);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.extras.errors ?? [];
  }
  return [];
}
