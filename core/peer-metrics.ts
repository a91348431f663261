import type { MetricFamily } from './open-metrics.ts';
import type { PeerStatus } from './peer-status.ts';

/** What a peer's metrics are made of: its status as the API shows it, with the name that people gave it. */
export interface PeerMetricsSource
  extends Pick<PeerStatus, 'id' | 'state' | 'messages-sent' | 'messages-received'> {
  readonly name: string;
  readonly session: Pick<PeerStatus['session'], 'nlris' | 'withheld' | 'established-since'>;
}

/** The metrics of all BGP sessions, each peer a label: here, unlike in CloudWatch, a label costs nothing. */
export function peerMetricFamilies(peers: readonly PeerMetricsSource[]): MetricFamily[] {
  const labels = ({ id, name }: PeerMetricsSource) => ({ peer_id: String(id), peer_name: name });
  const each = (value: (peer: PeerMetricsSource) => number) =>
    peers.map((peer) => ({ labels: labels(peer), value: value(peer) }));
  const by = (label: string, values: (peer: PeerMetricsSource) => Readonly<Record<string, number>>) =>
    peers.flatMap((peer) =>
      Object.entries(values(peer)).map(([key, value]) => ({
        labels: { ...labels(peer), [label]: key },
        value,
      })),
    );
  return [
    {
      name: 'graticule_bgp_session_up',
      type: 'gauge',
      help: '1 while the session is Established.',
      samples: each((peer) => (peer.state === 'established' ? 1 : 0)),
    },
    {
      name: 'graticule_bgp_session_established_timestamp_seconds',
      type: 'gauge',
      help: 'When the session was Established, since 1970.',
      samples: peers.flatMap((peer) => {
        const since = peer.session['established-since'];
        return since === null ? [] : [{ labels: labels(peer), value: Date.parse(since) / 1000 }];
      }),
    },
    {
      name: 'graticule_bgp_messages',
      type: 'counter',
      help: 'BGP messages since the peer was created.',
      samples: by('direction', (peer) => ({
        sent: peer['messages-sent'],
        received: peer['messages-received'],
      })),
    },
    {
      name: 'graticule_bgp_nlris',
      type: 'gauge',
      help: 'Link-state NLRIs that the peer tells now.',
      samples: by('type', (peer) => peer.session.nlris),
    },
    {
      name: 'graticule_bgp_nlris_withheld',
      type: 'gauge',
      help: 'Link-state NLRIs that were received and not kept, in the worker that runs the peer.',
      samples: by('reason', (peer) => peer.session.withheld),
    },
  ];
}
