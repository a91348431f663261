import { peerAnswer, peerCommandAnswer } from '../../core/peer-answer.ts';
import { PEER_READ_ONLY, peerConfiguration } from '../../core/peer-request.ts';
import { type NamedRequest, type NamedSchema, type OperationDocuments, PAGE } from '../operation.ts';

const PEER: NamedSchema = { name: 'Peer', schema: peerAnswer };
const COMMAND: NamedSchema = { name: 'PeerCommand', schema: peerCommandAnswer };
const REQUEST: NamedRequest = { name: 'PeerRequest', schema: peerConfiguration, readOnly: PEER_READ_ONLY };

export const PEER_OPERATIONS: OperationDocuments = {
  'GET /api/bgp/peers': {
    id: 'listPeers',
    summary: 'List the peers',
    query: PAGE,
    answer: {
      status: 200,
      description: 'The peers in the order of their ids',
      body: PEER,
      isList: true,
      headers: ['Link'],
    },
  },
  'POST /api/bgp/peers': {
    id: 'createPeer',
    summary: 'Create a peer',
    description: 'A worker takes an enabled peer within two seconds and connects.',
    request: REQUEST,
    answer: { status: 201, description: 'The peer', body: PEER, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'GET /api/bgp/peers/{peerId}': {
    id: 'getPeer',
    summary: 'Show a peer and its session',
    answer: { status: 200, description: 'The peer', body: PEER, headers: ['ETag'] },
  },
  'PUT /api/bgp/peers/{peerId}': {
    id: 'replacePeer',
    summary: "Replace a peer's configuration",
    description:
      'Full replace: what is omitted takes its zero value. A body that changes nothing keeps ETag and session; `name`, `description` and `preference` never touch the session.',
    isConditional: true,
    request: REQUEST,
    answer: { status: 200, description: 'The peer', body: PEER, headers: ['ETag'] },
    problems: ['conflict'],
  },
  'DELETE /api/bgp/peers/{peerId}': {
    id: 'deletePeer',
    summary: 'Delete a peer',
    description: 'The session ends with Cease 6/3; what the peer told leaves the topology.',
    isConditional: true,
    answer: { status: 204, description: 'The peer is gone' },
  },
  'POST /api/bgp/peers/{peerId}/reset': {
    id: 'resetPeer',
    summary: 'End the session and start another',
    answer: { status: 202, description: 'The owner of the session is told', body: COMMAND },
    problems: ['peer-disabled', 'no-worker'],
  },
  'POST /api/bgp/peers/{peerId}/refresh': {
    id: 'refreshPeer',
    summary: 'Ask the peer to tell everything again (RFC 2918)',
    answer: { status: 202, description: 'The owner of the session is told', body: COMMAND },
    problems: ['peer-disabled', 'not-established', 'capability-not-negotiated', 'no-worker'],
  },
};
