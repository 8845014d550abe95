// SPDX-License-Identifier: MPL-2.0

// Sends and receives: meeting by code, the port of a sender, sessions, reconnecting, diagnosis and benchmarks.
// It prints nothing and knows no terminal, window or exit code. Contacts, share and daemon build on its parts.

export type { Selection } from '@keibidrop/native';
export type * from './api.ts';
export { benchAgainst } from './bench/against.ts';
export { benchAlone } from './bench/alone.ts';
export type * from './bench/api.ts';
export { waitForBench } from './bench/wait.ts';
export type { SaveOptions } from './contact-introduction.ts';
export { diagnose } from './diagnosis.ts';
export { type EventJson, eventJson } from './event-json.ts';
export type * from './events.ts';
export type { Check } from './finding.ts';
export { heartbeatTimes } from './heartbeat-times.ts';
export { KeyRenewal } from './key-renewal.ts';
export type { ReachedSender } from './meeting/dial-sender.ts';
export { type FoundSender, findSender, type MeetOptions } from './meeting/find-sender.ts';
export { type Admission, admit, type IncomingPeer, pathOfIncoming } from './meeting/incoming-peer.ts';
export { ListeningPort, Waiting } from './meeting/listening-port.ts';
export { openListener, socketOf } from './meeting/open-listener.ts';
export { openHole } from './meeting/punched-lanes.ts';
export { type Receiver, Receivers, replaced, type ServingSession } from './meeting/receivers.ts';
export { awaitRelayedLanes } from './meeting/relayed-lanes.ts';
export { PauseSwitch } from './pause-switch.ts';
export { type WaitingSender, waitingSenders } from './peers.ts';
export { receive } from './receive/receive.ts';
export { watchOwnAddresses, watchOwnEnd } from './reconnect/address-watch.ts';
export { PATIENCE_MS, pause } from './reconnect/reconnect.ts';
export { ReconnectCredentials } from './reconnect/reconnect-credentials.ts';
export { leftBehindWarning } from './send/left-behind.ts';
export { measureAll, measurePath } from './send/measure-path.ts';
export { type PlanOptions, planSend, type SendPlan } from './send/plan-send.ts';
export { rootsBeneath } from './send/roots.ts';
export { send, sendRoots } from './send/send.ts';
export { causeOf, isLoss, lost } from './session-end.ts';
