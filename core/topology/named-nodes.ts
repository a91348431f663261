/**
 * The nodes that objects name, each there as long as something names it, and the connections between objects and nodes.
 */
import { NlriScan } from '../../protocols/bgp/ls/nlri-scan.ts';
import { joinGroup, leaveGroup, TopologyNode, type TopologyObject } from './graph-object.ts';
import { type NodeReference, nodeKey, nodeNlri } from './identity.ts';
import { LinkGroup } from './pairing.ts';

/** Told of each node that may have begun, or ceased, to be in the topology without an NLRI of its own. */
export type OnNamed = (node: TopologyNode) => void;

export class NamedNodes {
  readonly nodes = new Map<string, TopologyNode>();
  readonly #scan = new NlriScan();
  readonly #onNamed: OnNamed;

  constructor(onNamed: OnNamed) {
    this.#onNamed = onNamed;
  }

  /** Whether a node is there without an NLRI of its own: other objects name it. */
  listsAlone(node: TopologyNode): boolean {
    return node.listed && !node.advertised && this.nodes.get(node.key) === node;
  }

  /** Connects a new object with the nodes that it names. */
  join(object: TopologyObject): void {
    this.name(object, true);
    const { localNode, remoteNode } = object;
    if (object.kind === 'node') {
      localNode?.objects.push(object);
    } else if (object.kind === 'link') {
      localNode?.links.add(object);
      remoteNode?.links.add(object);
      if (localNode !== null && remoteNode !== null && LinkGroup.takes(this.#scan.protocolId)) {
        joinGroup(object, localNode, remoteNode);
      }
    } else {
      localNode?.belongings.add(object);
      return;
    }
    if (localNode !== null) this.#onNamed(localNode);
    if (remoteNode !== null) this.#onNamed(remoteNode);
  }

  /** Undoes it. */
  leave(object: TopologyObject): void {
    const { localNode, remoteNode } = object;
    if (object.kind === 'node' && localNode !== null) {
      localNode.objects = localNode.objects.filter((other) => other !== object);
    }
    for (const node of [localNode, remoteNode]) {
      if (node === null) continue;
      node.links.delete(object);
      node.belongings.delete(object);
      if (node.objects.length + node.links.size + node.belongings.size === 0) this.nodes.delete(node.key);
      this.#onNamed(node);
    }
    leaveGroup(object);
  }

  /** Finds the nodes that an object names; those that are new are kept only if `keep`. */
  name(object: TopologyObject, keep: boolean): void {
    const { safi, nlri } = object;
    const scan = this.#scan;
    if (object.kind === 'unknown' || !scan.scan(nlri, 0, nlri.length, safi)) return;
    const { bodyStart, localStart, localEnd, remoteStart, remoteEnd } = scan;
    if (localStart >= 0) {
      object.localNode = this.#node({ safi, nlri, bodyStart, start: localStart, end: localEnd }, keep);
    }
    if (object.kind === 'link' && remoteStart >= 0) {
      object.remoteNode = this.#node({ safi, nlri, bodyStart, start: remoteStart, end: remoteEnd }, keep);
    }
  }

  #node(reference: NodeReference, keep: boolean): TopologyNode {
    const key = nodeKey(reference);
    let node = this.nodes.get(key);
    if (node === undefined) {
      node = new TopologyNode(key, reference.safi, nodeNlri(reference));
      if (keep) this.nodes.set(key, node);
    }
    return node;
  }
}
