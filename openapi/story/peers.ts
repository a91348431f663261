import type { StoryStep } from '../example.ts';

const PEERS = '/api/bgp/peers';
const PEER = `${PEERS}/{peerId}`;

const REFLECTOR = {
  name: 'rr1',
  description: 'route reflector, Berlin',
  'peer-address': '192.0.2.1',
  'peer-port': 1790,
  'user-peer-as': '65000',
  enabled: true,
};

interface PeerBody {
  readonly state: string;
  readonly session: { readonly 'end-of-rib': string | null; readonly nlris: { readonly node: number } };
}

export const PEER_STEPS: readonly StoryStep[] = [
  {
    name: 'create-peer',
    operation: `POST ${PEERS}`,
    title: 'A route reflector',
    body: REFLECTOR,
    status: 201,
    unsettled: ['state', 'session', 'messages-sent', 'messages-received', 'last-state-change'],
  },
  {
    name: 'create-peer-refused',
    operation: `POST ${PEERS}`,
    title: 'Two mistakes, both named',
    body: { ...REFLECTOR, 'hold-time': 2, 'hold-tme': 90 },
    status: 400,
  },
  {
    name: 'create-disabled-peer',
    operation: `POST ${PEERS}`,
    title: 'A router that is not asked yet',
    body: { name: 'r7', 'peer-address': '192.0.2.7', 'user-peer-as': '0.65000', 'auth-password': 'a secret' },
    status: 201,
    unsettled: ['state', 'session', 'messages-sent', 'messages-received', 'last-state-change'],
  },
  {
    name: 'create-peer-conflict',
    operation: `POST ${PEERS}`,
    title: 'An address and port that another peer has',
    body: REFLECTOR,
    status: 409,
  },
  {
    name: 'get-peer',
    operation: `GET ${PEER}`,
    title: 'An established session',
    path: { peerId: '1' },
    status: 200,
    until: ({ state, session }: PeerBody) =>
      state === 'established' && session['end-of-rib'] !== null && session.nlris.node === 3,
  },
  {
    name: 'list-peers',
    operation: `GET ${PEERS}`,
    title: 'A page of one',
    query: { limit: '1' },
    status: 200,
  },
  {
    name: 'replace-peer',
    operation: `PUT ${PEER}`,
    title: 'Another description, if nobody else changed the peer; the session stays',
    path: { peerId: '1' },
    headers: { 'If-Match': '"1"' },
    body: { ...REFLECTOR, description: 'route reflector, Hamburg' },
    status: 200,
  },
  {
    name: 'replace-peer-stale',
    operation: `PUT ${PEER}`,
    title: 'Somebody was faster',
    path: { peerId: '1' },
    headers: { 'If-Match': '"1"' },
    body: REFLECTOR,
    status: 412,
  },
  {
    name: 'refresh-peer',
    operation: `POST ${PEER}/refresh`,
    title: 'Everything once more',
    path: { peerId: '1' },
    status: 202,
  },
  {
    name: 'refresh-disabled-peer',
    operation: `POST ${PEER}/refresh`,
    title: 'A peer that is not enabled',
    path: { peerId: '2' },
    status: 409,
  },
  {
    name: 'delete-peer',
    operation: `DELETE ${PEER}`,
    title: 'A peer that nobody needs',
    path: { peerId: '2' },
    status: 204,
  },
  {
    name: 'get-peer-gone',
    operation: `GET ${PEER}`,
    title: 'A peer that is gone',
    path: { peerId: '2' },
    status: 404,
  },
];

/** After those that need the session as it is. */
export const SESSION_STEPS: readonly StoryStep[] = [
  {
    name: 'reset-peer',
    operation: `POST ${PEER}/reset`,
    title: 'A new session',
    path: { peerId: '1' },
    status: 202,
  },
];
