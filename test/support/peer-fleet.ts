import type { PeerDriverPorts } from '../../worker/bgp/peer-driver.ts';

/** Ports of a driver that nobody listens to. */
export function quietPorts(): PeerDriverPorts {
  return {
    now: Date.now,
    monotonic: () => performance.now(),
    random: Math.random,
    mayAct: () => true,
    onStatus: () => {},
    onUpdate: () => {},
    onMalformedUpdate: () => {},
    onEndOfRib: () => {},
    onEstablished: () => {},
    onSessionLost: () => {},
    onRouteRefreshBegin: () => {},
    onRouteRefreshEnd: () => {},
  };
}

/** Resolves once the condition holds, looked at ten times a second; rejects when it has not in time. */
export async function until(milliseconds: number, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
