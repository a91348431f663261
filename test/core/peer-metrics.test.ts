import { expect, it } from 'vitest';
import { formatMetricFamilies } from '../../core/open-metrics.ts';
import { peerMetricFamilies } from '../../core/peer-metrics.ts';
import { unseenSession } from '../../core/peer-status.ts';

it('gives each session’s metrics in the OpenMetrics text format, its name escaped', () => {
  const session = { ...unseenSession(''), 'established-since': '2026-11-21T03:00:00.500Z' };
  const peer = {
    id: 7,
    name: 'rr "one"\\\n',
    state: 'established' as const,
    'messages-sent': 2,
    'messages-received': 9,
  };
  const text = formatMetricFamilies(peerMetricFamilies([{ ...peer, session }]));
  const labels = 'peer_id="7",peer_name="rr \\"one\\"\\\\\\n"';
  expect(text).toContain('# TYPE graticule_bgp_messages counter\n# HELP graticule_bgp_messages ');
  expect(text).toContain(`\ngraticule_bgp_messages_total{${labels},direction="received"} 9\n`);
  expect(text).toContain(`\ngraticule_bgp_session_up{${labels}} 1\n`);
  expect(text).toContain(`established_timestamp_seconds{${labels}} 1795230000.5\n`);
  expect(text).toContain(`\ngraticule_bgp_nlris{${labels},type="srv6-sid"} 0\n`);
  expect(text.endsWith('\n')).toBe(true);
});
