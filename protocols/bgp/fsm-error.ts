/** The Finite State Machine Error that answers a message which is not expected in a state: RFC 4271 §6.6, RFC 6608. */
import { type BgpError, bgpError, ERROR_CODE, FSM_SUBCODE } from './error.ts';
import { EVENT, type EventNumber, nameEvent, type State } from './fsm.ts';
import { MESSAGE_TYPE, nameMessage } from './header.ts';

const MESSAGE_OF_EVENT: Partial<Record<EventNumber, number>> = {
  [EVENT.BgpOpen]: MESSAGE_TYPE.open,
  [EVENT.BgpOpenMsgErr]: MESSAGE_TYPE.open,
  [EVENT.KeepAliveMsg]: MESSAGE_TYPE.keepalive,
  [EVENT.UpdateMsg]: MESSAGE_TYPE.update,
  [EVENT.UpdateMsgErr]: MESSAGE_TYPE.update,
};

/**
 * RFC 6608 §4: the subcode names the state, the data is the type of the message.
 * @param messageType where it is not the one that the event is named for
 */
export function unexpectedMessage(
  event: EventNumber,
  state: State,
  messageType: number | undefined,
): BgpError {
  const type = messageType ?? MESSAGE_OF_EVENT[event];
  const subcode =
    state === 'OpenSent'
      ? FSM_SUBCODE.openSent
      : state === 'OpenConfirm'
        ? FSM_SUBCODE.openConfirm
        : FSM_SUBCODE.established;
  return type === undefined
    ? bgpError(ERROR_CODE.finiteStateMachineError, FSM_SUBCODE.unspecified, `${nameEvent(event)} in ${state}`)
    : bgpError(
        ERROR_CODE.finiteStateMachineError,
        subcode,
        `the peer sent ${nameMessage(type)} in ${state}`,
        Uint8Array.of(type),
      );
}
